#pragma once

#include <optional>
#include <vector>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::trace_analysis {

// How often values of each size occurred: exact below 64, then in 32 steps per octave, so that
// percentiles are within 1/32 of the value. Keeps only the sizes that occurred.
class Histogram {
 public:
  void add(u64 value);
  void add(const Histogram& other);

  [[nodiscard]] u64 count() const { return count_; }
  [[nodiscard]] u64 sum() const { return sum_; }
  [[nodiscard]] u64 least() const { return least_; }
  [[nodiscard]] u64 greatest() const { return greatest_; }

  // Of the steps that have values: the greatest value of each, and how many values it has.
  struct Step {
    u64 greatest;
    u64 count;
  };
  [[nodiscard]] std::vector<Step> steps() const;

  // The least value that at least `percent` of all do not exceed, as the greatest of its step;
  // nothing without values.
  [[nodiscard]] std::optional<u64> percentile(unsigned percent) const;

 private:
  struct Numbered {
    u32 number;
    u64 count;
  };

  static u32 step_of(u64 value);
  static u64 greatest_of(u32 step);

  std::vector<Numbered> steps_;  // by number
  u64 count_ = 0;
  u64 sum_ = 0;
  u64 least_ = 0, greatest_ = 0;
};

}  // namespace coldtrace::trace_analysis
