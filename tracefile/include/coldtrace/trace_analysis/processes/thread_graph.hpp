#pragma once

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/trace_analysis/processes/process_tree.hpp"

namespace coldtrace::trace_analysis {

// The process-thread graph of the Windows Monitoring Kernel: processes, threads, and which thread
// started which of them. A tree with as many nodes as can be viewed.
// Source: docs/seeds.md, "Windows Monitoring Kernel".
class ThreadGraph {
 public:
  struct Node {
    enum class Kind : u8 { process, thread, more_threads, more_processes };
    Kind kind;
    Index index;  // of the process or thread; for more threads, their process
    u32 parent;   // number of a node; no_node: a root
    u64 count;    // of those that are not shown
  };
  static constexpr u32 no_node = 0xffff'ffff;

  // At most `most_nodes` processes and threads, processes first.
  ThreadGraph(core::Borrowed<ProcessTree> tree, std::size_t most_nodes);

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  // The node of the process that a thread runs in if another process started it, else no_node.
  [[nodiscard]] u32 home_of(const Node& node) const;
  [[nodiscard]] u64 left_out() const { return left_out_; }  // processes and threads

 private:
  u32 parent_of_process(Index process) const;
  u32 parent_of_thread(Index thread) const;

  const ProcessTree& tree_;
  std::vector<Node> nodes_;
  std::vector<u32> node_of_process_, node_of_thread_;
  u64 left_out_ = 0;
};

}  // namespace coldtrace::trace_analysis
