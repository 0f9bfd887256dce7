#include "coldtrace/trace_analysis/waits/lock_owners.hpp"

namespace coldtrace::trace_analysis {

void LockOwners::on_priority_change(const PriorityChange& record) {
  if (!record.lock || record.thread == nobody) return;
  const auto key = std::tuple{*record.lock, record.thread, record.by};
  auto* const edge = edges_.find_or_add(key, {*record.lock, record.thread, record.by, 0, {}});
  if (edge == nullptr) return;
  ++edge->count;
  edge->last = record.moment;
}

}  // namespace coldtrace::trace_analysis
