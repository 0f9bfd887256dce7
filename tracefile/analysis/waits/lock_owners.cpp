#include "coldtrace/trace_analysis/waits/lock_owners.hpp"

namespace coldtrace::trace_analysis {

void LockOwners::on_priority_change(const PriorityChange& record) {
  if (!record.lock || record.thread == nobody) return;
  const auto key = std::tuple{*record.lock, record.thread, record.by};
  auto known = numbers_.find(key);
  if (known == numbers_.end()) {
    if (edges_.size() == most_edges) {
      ++left_out_;
      return;
    }
    known = numbers_.emplace(key, edges_.size()).first;
    edges_.push_back({*record.lock, record.thread, record.by, 0, {}});
  }
  auto& edge = edges_[known->second];
  ++edge.count;
  edge.last = record.moment;
}

}  // namespace coldtrace::trace_analysis
