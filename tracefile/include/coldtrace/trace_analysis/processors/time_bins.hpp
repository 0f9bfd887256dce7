#pragma once

#include <vector>

#include "coldtrace/core/integers.hpp"
#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::trace_analysis {

// How much of each of a few hundred equal steps of time was used, over a time whose end is not
// known in advance: steps are joined in pairs when there are too many. Sums are exact to the tick.
class TimeBins {
 public:
  static constexpr std::size_t most_bins = 480;

  // `start` is where the first step begins; anything before it is not counted.
  void begin(i64 start) { start_ = start; }
  void add(i64 from, i64 to);

  [[nodiscard]] i64 start() const { return start_; }
  [[nodiscard]] i64 width() const { return width_; }  // ticks
  [[nodiscard]] const std::vector<i64>& bins() const {
    return bins_;
  }  // ticks, up to the last that is not empty
  [[nodiscard]] i64 total() const { return total_; }

  // Joins steps until they are that wide, so that several can be drawn on one scale.
  void widen(i64 width);

 private:
  void join();

  i64 start_ = 0;
  i64 width_ = 1;  // a power of two
  i64 total_ = 0;
  std::vector<i64> bins_;
};

}  // namespace coldtrace::trace_analysis
