#pragma once

#include <optional>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::core {

// Sums and products of numbers from a file: nothing when the result does not fit in 64 bits.
[[nodiscard]] constexpr std::optional<u64> checked_add(u64 a, u64 b) {
  u64 sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

// Nothing when the product does not fit in 64 bits.
[[nodiscard]] constexpr std::optional<u64> checked_multiply(u64 a, u64 b) {
  u64 product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// As checked_add, with the largest number when the sum does not fit: for limits, which that exceeds
// anyway.
[[nodiscard]] constexpr u64 saturating_add(u64 a, u64 b) {
  return checked_add(a, b).value_or(~u64{0});
}

// The largest number when the product does not fit in 64 bits.
[[nodiscard]] constexpr u64 saturating_multiply(u64 a, u64 b) {
  return checked_multiply(a, b).value_or(~u64{0});
}

}  // namespace coldtrace::core
