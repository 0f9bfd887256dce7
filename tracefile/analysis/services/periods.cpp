#include "coldtrace/trace_analysis/services/periods.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::trace_analysis {

Periods Periods::of_length(i64 ticks) {
  Periods periods;
  periods.length_ = ticks;
  return periods;
}

Periods Periods::from_moments(std::vector<i64> moments) {
  Periods periods;
  periods.moments_ = std::move(moments);
  std::sort(periods.moments_.begin(), periods.moments_.end());
  return periods;
}

u64 Periods::number_of(i64 time, i64 first) const {
  if (length_ > 0) return static_cast<u64>(ticks_between(first, time) / length_);
  const auto next = std::upper_bound(moments_.begin(), moments_.end(), time);
  return static_cast<u64>(next - moments_.begin());
}

Periods::Span Periods::span_of(u64 number, i64 first) const {
  if (length_ == 0) {
    Span span;
    if (number > 0) span.from = moments_[number - 1];
    if (number < moments_.size()) span.to = moments_[number];
    return span;
  }
  i64 from = first;
  add_ticks(from, static_cast<i64>(number) * length_);
  i64 to = from;
  add_ticks(to, length_);
  return {from, to};
}

}  // namespace coldtrace::trace_analysis
