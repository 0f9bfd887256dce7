#include "coldtrace/trace_analysis/processes/thread_graph.hpp"

#include <algorithm>

namespace coldtrace::trace_analysis {

ThreadGraph::ThreadGraph(core::Borrowed<ProcessTree> tree, std::size_t most_nodes)
    : tree_{tree.get()} {
  const auto& processes = tree_.population().processes();
  const auto& threads = tree_.population().threads();
  node_of_process_.assign(processes.size(), no_node);
  node_of_thread_.assign(threads.size(), no_node);
  const auto shown_processes = std::min(processes.size(), most_nodes);
  for (Index i = 0; i < shown_processes; ++i) {
    node_of_process_[i] = static_cast<u32>(nodes_.size());
    nodes_.push_back({Node::Kind::process, i, no_node, 0});
  }
  std::vector<u64> hidden(processes.size());
  for (Index i = 0; i < threads.size(); ++i) {
    const auto process = threads[i].process;
    if (nodes_.size() < most_nodes) {
      node_of_thread_[i] = static_cast<u32>(nodes_.size());
      nodes_.push_back({Node::Kind::thread, i, no_node, 0});
    } else {
      ++left_out_;
      if (process != nobody && node_of_process_[process] != no_node) ++hidden[process];
    }
  }
  for (auto& node : nodes_)
    node.parent = node.kind == Node::Kind::process ? parent_of_process(node.index)
                                                   : parent_of_thread(node.index);
  for (Index i = 0; i < hidden.size(); ++i)
    if (hidden[i] > 0)
      nodes_.push_back({Node::Kind::more_threads, i, node_of_process_[i], hidden[i]});
  if (const auto more = processes.size() - shown_processes; more > 0) {
    left_out_ += more;
    nodes_.push_back({Node::Kind::more_processes, nobody, no_node, more});
  }
}

u32 ThreadGraph::parent_of_process(Index process) const {
  const auto creator = tree_.population().processes()[process].creator;
  if (creator != nobody && node_of_thread_[creator] != no_node) return node_of_thread_[creator];
  const auto parent = tree_.parent_of(process);
  return parent == nobody ? no_node : node_of_process_[parent];
}

u32 ThreadGraph::parent_of_thread(Index thread) const {
  const auto& one = tree_.population().threads()[thread];
  if (one.creator != nobody && node_of_thread_[one.creator] != no_node)
    return node_of_thread_[one.creator];
  return one.process == nobody ? no_node : node_of_process_[one.process];
}

u32 ThreadGraph::home_of(const Node& node) const {
  if (node.kind != Node::Kind::thread || node.parent == no_node) return no_node;
  const auto& threads = tree_.population().threads();
  const auto& parent = nodes_[node.parent];
  const auto process = threads[node.index].process;
  if (parent.kind != Node::Kind::thread || process == nobody) return no_node;
  return threads[parent.index].process == process ? no_node : node_of_process_[process];
}

}  // namespace coldtrace::trace_analysis
