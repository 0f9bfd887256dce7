#pragma once

#include <optional>
#include <vector>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::trace_analysis {

// Cuts the time of a trace into periods, which are numbered in order.
class Periods {
 public:
  // As long as each other, the first one from the first event on. `ticks` is positive.
  [[nodiscard]] static Periods of_length(i64 ticks);
  // From each of the moments on, in ticks, and one before them all.
  [[nodiscard]] static Periods from_moments(std::vector<i64> moments);

  // The period that has `time`; `first` is the first event of the trace. Both in ticks.
  [[nodiscard]] u64 number_of(i64 time, i64 first) const;

  // Ticks, without `to` itself; nothing where the trace begins or ends before the period does.
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
