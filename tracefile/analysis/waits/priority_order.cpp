#include "coldtrace/trace_analysis/waits/priority_order.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

namespace coldtrace::trace_analysis {

const Inversions::LowerRan* find_lower_ran(const Inversions& inversions, Index thread) {
  const auto& all = inversions.lower_ran();
  return thread < all.size() && all[thread].count > 0 ? &all[thread] : nullptr;
}

void sort_by_priority(std::vector<Index>& threads, const Priorities& priorities,
                      const Inversions& inversions, RowOrder order) {
  std::ranges::stable_sort(threads, std::greater{}, [&](Index thread) {
    const auto& one = priorities.threads()[thread];
    const auto* const lower = find_lower_ran(inversions, thread);
    const auto time = order == RowOrder::time && lower != nullptr ? lower->time : 0;
    return std::tuple{time, one.steps, one.last};
  });
}

std::vector<Index> sorted_by_lower_ran(const std::vector<Index>& threads,
                                       const Inversions& inversions, RowOrder order) {
  std::vector<Index> found;
  for (const auto thread : threads)
    if (find_lower_ran(inversions, thread) != nullptr) found.push_back(thread);
  std::ranges::stable_sort(found, std::greater{}, [&](Index thread) {
    const auto& lower = *find_lower_ran(inversions, thread);
    return order == RowOrder::count ? static_cast<i64>(lower.count) : lower.time;
  });
  return found;
}

}  // namespace coldtrace::trace_analysis
