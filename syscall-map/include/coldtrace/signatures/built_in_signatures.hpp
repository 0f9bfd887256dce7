#pragma once

#include <span>
#include <string_view>

#include "coldtrace/signatures/signature.hpp"

namespace coldtrace::syscall_map {

// The text of syscall-map/signatures/kernel.sig.
[[nodiscard]] std::string_view built_in_signatures();

// The same, parsed once.
[[nodiscard]] std::span<const Signature> parsed_built_in_signatures();

}  // namespace coldtrace::syscall_map
