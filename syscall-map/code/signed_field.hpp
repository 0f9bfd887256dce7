#pragma once

#include "coldtrace/core/integers.hpp"

namespace coldtrace::syscall_map {

// The signed number in the `width` bits of an instruction from bit `from` on.
constexpr i64 signed_field(u32 word, unsigned from, unsigned width) {
  const u64 bits = (word >> from) & ((u64{1} << width) - 1);
  const u64 sign = u64{1} << (width - 1);
  return static_cast<i64>((bits ^ sign) - sign);
}

}  // namespace coldtrace::syscall_map
