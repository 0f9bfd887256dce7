#pragma once

#include <optional>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::tracefile {
class AnyTrace;
}

namespace coldtrace::trace_analysis {

// The kernel measures requests with its performance counter, whatever clock the trace has.
class CounterTicks {
 public:
  // Of a trace whose clock is that counter.
  CounterTicks() = default;
  explicit CounterTicks(const tracefile::AnyTrace& trace);

  // As ticks of the trace; nothing if there are too many, or the counter's frequency is lost.
  [[nodiscard]] std::optional<i64> to_ticks(u64 count) const;

  // Ticks of the trace in a millisecond; 0: not known.
  [[nodiscard]] i64 millisecond() const { return millisecond_; }

 private:
  u64 ticks_ = 1, per_ = 1;  // so many of the trace in so many of the counter
  i64 millisecond_ = 0;
};

}  // namespace coldtrace::trace_analysis
