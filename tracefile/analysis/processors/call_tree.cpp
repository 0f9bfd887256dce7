#include "coldtrace/trace_analysis/processors/call_tree.hpp"

namespace coldtrace::trace_analysis {

u32 CallTree::add(std::span<const Frame> path, const SampleSum& sum) {
  u32 at = 0;
  for (const auto& frame : path) {
    const auto known = children_.find({at, frame});
    if (known != children_.end()) {
      at = known->second;
      continue;
    }
    if (nodes_.size() == most_nodes) {
      ++cut_;
      nodes_[at].cut.add(sum);
      return at;
    }
    const auto next = static_cast<u32>(nodes_.size());
    children_.emplace(Edge{at, frame}, next);
    nodes_.push_back({at, frame, {}, {}});
    at = next;
  }
  nodes_[at].self.add(sum);
  return at;
}

}  // namespace coldtrace::trace_analysis
