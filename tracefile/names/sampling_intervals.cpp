#include "coldtrace/tracefile/names/sampling_intervals.hpp"

#include <algorithm>

namespace coldtrace::tracefile {

void SamplingIntervals::finish() {
  std::ranges::stable_sort(changes_, {}, &Change::time);
}

std::optional<u32> SamplingIntervals::at(i64 time) const {
  if (changes_.empty()) return std::nullopt;
  const auto after = std::ranges::upper_bound(changes_, time, {}, &Change::time);
  if (after != changes_.begin()) return std::prev(after)->now;
  return after->before != 0 ? after->before : after->now;
}

}  // namespace coldtrace::tracefile
