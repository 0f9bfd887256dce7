#pragma once

#include <algorithm>

namespace coldtrace::core {

// std::stable_sort for a range that nearly always is sorted already, as tables that linkers write
// are, or is sorted except for what was appended: a sorted one costs one pass and no buffer.
template <class Range, class Less>
void stable_sort_if_needed(Range& range, Less less) {
  const auto added = std::is_sorted_until(range.begin(), range.end(), less);
  if (added == range.end()) return;
  std::stable_sort(added, range.end(), less);
  std::inplace_merge(range.begin(), added, range.end(), less);
}

}  // namespace coldtrace::core
