#pragma once

#include "coldtrace/trace_analysis/records/records.hpp"

namespace coldtrace::trace_analysis {

// Waits that ended: their totals, and the longest of them.
struct EndedWaits {
  u64 count = 0;
  i64 time = 0;     // ticks
  i64 longest = 0;  // ticks
  Moment longest_since;

  void add(i64 waiting, const Moment& since);
};

}  // namespace coldtrace::trace_analysis
