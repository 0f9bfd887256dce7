#pragma once

#include <algorithm>

namespace coldtrace::core {

// std::stable_sort for what nearly always is in order already, as tables that linkers write are:
// that costs one look, and no buffer.
template <class Range, class Less>
void stable_sort_if_needed(Range& range, Less less) {
  if (!std::is_sorted(range.begin(), range.end(), less))
    std::stable_sort(range.begin(), range.end(), less);
}

}  // namespace coldtrace::core
