#include "coldtrace/trace_analysis/requests/busy_time.hpp"

#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::trace_analysis {

void BusyTime::settle() {
  const auto& interval = intervals_.front();
  add_ticks(total_, ticks_between(interval.from, interval.to));
  settled_ = interval.to;
  if (each_) each_(interval);
  intervals_.pop_front();
}

void BusyTime::add(i64 from, i64 to, const Cause& cause) {
  const auto last = intervals_.empty() ? settled_ : std::optional{intervals_.back().to};
  if (from > to || (last && to < *last)) {
    ++cut_;
    return;
  }
  Interval interval{from, to, cause};
  if (settled_ && from < *settled_) {
    interval.from = *settled_;
    ++cut_;
  }
  while (!intervals_.empty() && intervals_.back().to >= interval.from) {
    if (intervals_.back().from <= interval.from) {
      interval.from = intervals_.back().from;
      interval.cause = intervals_.back().cause;
    }
    intervals_.pop_back();
  }
  intervals_.push_back(interval);
  if (intervals_.size() > most_intervals) settle();
}

void BusyTime::finish() {
  while (!intervals_.empty()) settle();
}

}  // namespace coldtrace::trace_analysis
