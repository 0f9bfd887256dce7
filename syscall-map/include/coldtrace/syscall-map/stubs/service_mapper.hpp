#pragma once

#include "coldtrace/pe/image_tables.hpp"
#include "coldtrace/syscall-map/stubs/service_map.hpp"

namespace coldtrace::syscall_map {

// Decodes the stubs at the exports of an image, and the unexported ones of a kernel's run of Zw
// stubs; infers numbers where the order of the stubs proves them; checks the result. An image
// without any stub gives an empty map with the finding `no-services`.
[[nodiscard]] ServiceMap map_services(const pe::ImageTables& tables);

}  // namespace coldtrace::syscall_map
