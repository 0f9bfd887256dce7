#pragma once

#include <string_view>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::syscall_map {

// Whether an instruction begins at a place.
enum class BoundaryState : u8 {
  unknown,  // nothing shows it
  proved,   // a function begins there, or its code has an instruction there
  refuted,  // it lies inside an instruction, or in an address that the loader adjusts
};

[[nodiscard]] std::string_view to_string(BoundaryState state);

}  // namespace coldtrace::syscall_map
