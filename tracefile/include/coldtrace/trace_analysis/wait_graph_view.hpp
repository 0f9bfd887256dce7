#pragma once

#include "coldtrace/trace_analysis/stated_waits.hpp"
#include "coldtrace/trace_analysis/wait_graph.hpp"

namespace coldtrace::trace_analysis {

// As much of a wait-for graph as can be looked at: the waits of some processes or of all, those
// that are open or long first.
class WaitGraphView {
 public:
  struct Node {
    enum class Kind : u8 { thread, object, interrupts, more_threads, more_objects };
    Kind kind;
    u32 index;  // of the thread or object
    u64 count;  // of those that are not shown
  };
  struct Edge {
    enum class Kind : u8 { waits, owner, woken, stated };
    Kind kind;
    u32 from, to;  // numbers of nodes
    u32 index;     // in the graph's edges, owners, or edges of wakes, or in the stated edges
  };

  // `processes` are numbers in the Population; absent: all. At most `most_nodes` threads and
  // objects. The graph and the stated waits must outlive the view.
  WaitGraphView(const WaitGraph& graph, const StatedWaits& stated, const Population& population,
                const std::optional<std::vector<Index>>& processes, std::size_t most_nodes);

  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Edge>& edges() const { return edges_; }
  u64 threads_left_out() const { return threads_left_out_; }
  u64 objects_left_out() const { return objects_left_out_; }

  // In the order of what matters most: waits of the processes that are open, then the longest.
  const std::vector<u32>& waits() const { return waits_; }
  // Where the trace names no objects.
  const std::vector<u32>& wakes() const { return wakes_; }
  // Of the objects that these waits are for.
  const std::vector<u32>& owners() const { return owners_; }
  // In the order in which they came.
  const std::vector<u32>& stated() const { return stated_edges_; }

 private:
  static constexpr u32 no_node = 0xffff'ffff;

  void choose(const Population& population, const std::optional<std::vector<Index>>& processes);
  void place_waits(std::size_t most_nodes);
  void place_wakes(std::size_t most_nodes);
  void place_stated(std::size_t most_nodes);
  u32 node(Node::Kind kind, u32 index, std::vector<u32>& numbers, std::size_t most_nodes);
  u32 object_node(ObjectIndex object, std::size_t most_nodes);
  void count_left_out();

  const WaitGraph& graph_;
  const StatedWaits& stated_;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<u32> waits_, wakes_, owners_, stated_edges_;
  std::vector<u32> node_of_thread_, node_of_object_;
  u32 interrupts_ = no_node;
  u64 threads_left_out_ = 0, objects_left_out_ = 0;
};

}  // namespace coldtrace::trace_analysis
