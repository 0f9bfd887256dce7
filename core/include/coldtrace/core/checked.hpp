#pragma once

#include <optional>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::core {

// Sums and products of numbers that a file supplied: nothing when they do not fit 64 bits.
[[nodiscard]] constexpr std::optional<u64> checked_add(u64 a, u64 b) {
  u64 sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

// Nothing where the product has more than 64 bits.
[[nodiscard]] constexpr std::optional<u64> checked_multiply(u64 a, u64 b) {
  u64 product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// The same, with the largest number for what does not fit: for limits, where larger is the same
// as too large.
[[nodiscard]] constexpr u64 saturating_add(u64 a, u64 b) {
  return checked_add(a, b).value_or(~u64{0});
}

// The largest number where the product has more than 64 bits.
[[nodiscard]] constexpr u64 saturating_multiply(u64 a, u64 b) {
  return checked_multiply(a, b).value_or(~u64{0});
}

}  // namespace coldtrace::core
