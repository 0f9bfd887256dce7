#include "coldtrace/trace_export/path_times.hpp"

namespace coldtrace::trace_export {

void PathTimes::add_sample(u32 node, i64 weight) {
  if (times_.size() == most_samples)
    ++left_out_;
  else
    times_.push_back({node, weight});
}

void PathTimes::add_sums(const trace_analysis::CallTree& tree) {
  for (u32 i = 0; i < tree.nodes().size(); ++i) {
    const auto& node = tree.nodes()[i];
    if (node.self.time > 0) times_.push_back({i, node.self.time});
    if (node.cut.time > 0) times_.push_back({i, node.cut.time});
  }
}

}  // namespace coldtrace::trace_export
