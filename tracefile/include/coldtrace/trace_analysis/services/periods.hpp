#pragma once

#include <optional>
#include <vector>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::trace_analysis {

// Divides the time of a trace into periods, which are numbered in order.
class Periods {
 public:
  // Of equal length, the first one from the first event on. `ticks` is positive.
  [[nodiscard]] static Periods of_length(i64 ticks);
  // One from each of the moments on, in ticks, and one before them all.
  [[nodiscard]] static Periods from_moments(std::vector<i64> moments);

  // The period that contains `time`; `first` is the first event of the trace. Both in ticks.
  [[nodiscard]] u64 number_of(i64 time, i64 first) const;

  // Ticks, excluding `to` itself; absent if the period begins or ends with the trace.
  struct Span {
    std::optional<i64> from, to;
  };
  // `number` and `first` are those of number_of().
  [[nodiscard]] Span span_of(u64 number, i64 first) const;

 private:
  i64 length_ = 0;
  std::vector<i64> moments_;
};

}  // namespace coldtrace::trace_analysis
