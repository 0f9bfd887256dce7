#pragma once

#include <vector>

#include "coldtrace/trace_analysis/processors/call_tree.hpp"

namespace coldtrace::trace_export {

// Time spent at the end of a call path.
struct PathTime {
  u32 node;  // of the tree of calls
  i64 weight;
};

// What a profile by paths is made of: samples in order, or the total of each path.
class PathTimes {
 public:
  // Samples beyond this are counted: a page has no room for them either.
  static constexpr std::size_t most_samples = std::size_t{1} << 22U;

  // Of a node of the tree; in the order in which samples were taken.
  void add_sample(u32 node, i64 weight);
  // Each node that has time of its own, with all of it.
  void add_sums(const trace_analysis::CallTree& tree);

  [[nodiscard]] const std::vector<PathTime>& all() const { return times_; }
  [[nodiscard]] u64 left_out() const { return left_out_; }

 private:
  std::vector<PathTime> times_;
  u64 left_out_ = 0;
};

}  // namespace coldtrace::trace_export
