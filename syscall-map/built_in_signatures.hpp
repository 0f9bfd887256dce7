#pragma once

#include <string_view>

namespace coldtrace::syscall_map {

// The text of syscall-map/signatures/kernel.sig.
std::string_view built_in_signatures();

}  // namespace coldtrace::syscall_map
