#pragma once

#include <vector>

#include "coldtrace/trace_analysis/records/row_order.hpp"
#include "coldtrace/trace_analysis/scheduling/priorities.hpp"
#include "coldtrace/trace_analysis/waits/inversions.hpp"

namespace coldtrace::trace_analysis {

// Of a thread; null: no thread of lower priority was seen to run while it was ready.
[[nodiscard]] const Inversions::LowerRan* find_lower_ran(const Inversions& inversions,
                                                         Index thread);

// By how long threads of lower priority ran while these were ready, or by how often their priority
// changed; of equal ones, the one that changed more often comes first, then the one that was seen
// last.
void sort_by_priority(std::vector<Index>& threads, const Priorities& priorities,
                      const Inversions& inversions, RowOrder order);

// Those of the threads for which find_lower_ran() finds something, by the time or the number of the
// stretches.
[[nodiscard]] std::vector<Index> sorted_by_lower_ran(const std::vector<Index>& threads,
                                                     const Inversions& inversions, RowOrder order);

}  // namespace coldtrace::trace_analysis
