#pragma once

#include "coldtrace/syscall-map/stubs/service_map.hpp"

namespace coldtrace::syscall_map {

// Checks the services of one image for what holds in every image measured: numbers rise with the
// address at a fixed stride, no number is missing or duplicated, NtX and ZwX have the same address.
// A violation is a warning in `map.findings`.
void check_services(ServiceMap& map);

}  // namespace coldtrace::syscall_map
