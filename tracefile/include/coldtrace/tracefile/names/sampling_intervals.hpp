#pragma once

#include <optional>
#include <vector>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::tracefile {

// How long the kernel waited between two samples of a processor at any time of a trace, in units of
// 100 ns. Source: Microsoft Learn, "SampledProfileInterval" of the class PerfInfo.
class SamplingIntervals {
 public:
  struct Change {
    i64 time;         // raw timestamp
    u32 before, now;  // 0: not told
  };

  void add(const Change& change) { changes_.push_back(change); }
  // To be called once, after all changes.
  void finish();

  // The one in force at a time: the old value of the first change has been in force since sampling
  // began. Nothing if no event tells.
  [[nodiscard]] std::optional<u32> at(i64 time) const;

  [[nodiscard]] std::size_t bytes() const { return changes_.capacity() * sizeof(Change); }

 private:
  std::vector<Change> changes_;  // in the order of time
};

}  // namespace coldtrace::tracefile
