#pragma once

#include <limits>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::trace_analysis {

// Times of damaged traces can be any numbers: what is longer than the clock can count is taken to
// be that long, and what runs backwards takes no time.

// 0 if `to` is not later; the largest number if the difference does not fit.
[[nodiscard]] constexpr i64 ticks_between(i64 from, i64 to) {
  if (to <= from) return 0;
  i64 ticks = 0;
  return __builtin_sub_overflow(to, from, &ticks) ? std::numeric_limits<i64>::max() : ticks;
}

// The sum stays at the largest number if it does not fit.
constexpr void add_ticks(i64& sum, i64 ticks) {
  if (__builtin_add_overflow(sum, ticks, &sum)) sum = std::numeric_limits<i64>::max();
}

}  // namespace coldtrace::trace_analysis
