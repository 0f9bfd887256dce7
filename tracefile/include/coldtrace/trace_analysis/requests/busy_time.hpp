#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "coldtrace/trace_analysis/records/population.hpp"

namespace coldtrace::trace_analysis {

// When a device had something to do: the union of intervals, which come in the order of their ends.
class BusyTime {
 public:
  // Who caused it, and for which file.
  struct Cause {
    Index thread;
    Index process;  // where no thread is known
    u32 file;
  };
  struct Interval {
    i64 from, to;
    Cause cause;  // of what began it
  };
  using Sink = std::function<void(const Interval&)>;
  // What begins before this many intervals counts only from their end on.
  static constexpr std::size_t most_intervals = 4096;

  // `each` may be empty; it gets the intervals in order and disjoint.
  BusyTime() = default;
  explicit BusyTime(Sink each) : each_{std::move(each)} {}

  void add(i64 from, i64 to, const Cause& cause = {nobody, nobody, 0});
  // To be called once, after all intervals.
  void finish();

  [[nodiscard]] i64 total() const { return total_; }  // ticks, once finished
  [[nodiscard]] u64 cut() const { return cut_; }      // intervals that count in part, or not at all

 private:
  void settle();

  Sink each_;
  std::deque<Interval> intervals_;
  std::optional<i64> settled_;  // the end of the last one that was handed out
  i64 total_ = 0;
  u64 cut_ = 0;
};

}  // namespace coldtrace::trace_analysis
