#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::core {

// std::stable_sort for what nearly always is in order already, as tables that linkers write are, or
// is but for what was added at its end: the first costs one look and no buffer.
template <class Range, class Less>
void stable_sort_if_needed(Range& range, Less less) {
  const auto added = std::is_sorted_until(range.begin(), range.end(), less);
  if (added == range.end()) return;
  std::stable_sort(added, range.end(), less);
  std::inplace_merge(range.begin(), added, range.end(), less);
}

// std::sort for numbers spread about evenly, as addresses are: each goes into one of at most as
// many buckets as there are numbers, and only those of one bucket are compared.
inline void sort_spread(std::vector<u64>& numbers) {
  if (numbers.size() < 2) return;
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  const u64 base = *least;
  const auto shift = std::bit_width((*most - base) / numbers.size());
  std::vector<std::size_t> ends(((*most - base) >> shift) + 2);
  for (const u64 number : numbers) ++ends[((number - base) >> shift) + 1];
  for (std::size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
  std::vector<u64> sorted(numbers.size());
  for (const u64 number : numbers) sorted[ends[(number - base) >> shift]++] = number;
  numbers.swap(sorted);
  auto first = numbers.begin();
  for (const auto end : ends) {
    const auto last = numbers.begin() + static_cast<std::ptrdiff_t>(end);
    if (last - first > 1) std::sort(first, last);
    first = last;
  }
}

}  // namespace coldtrace::core
