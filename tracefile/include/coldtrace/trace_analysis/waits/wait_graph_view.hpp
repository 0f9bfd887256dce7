#pragma once

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/trace_analysis/records/row_order.hpp"
#include "coldtrace/trace_analysis/waits/file_waits.hpp"
#include "coldtrace/trace_analysis/waits/lock_owners.hpp"
#include "coldtrace/trace_analysis/waits/request_waits.hpp"
#include "coldtrace/trace_analysis/waits/stated_waits.hpp"
#include "coldtrace/trace_analysis/waits/wait_graph.hpp"
#include "coldtrace/trace_analysis/waits/wait_kinds.hpp"

namespace coldtrace::trace_analysis {

// What is known about waits; all of it must outlive this.
struct WaitEvidence {
  core::Borrowed<WaitGraph> graph;
  core::Borrowed<StatedWaits> stated;
  core::Borrowed<LockOwners> locks;
  core::Borrowed<RequestWaits> requests;
  core::Borrowed<FileWaits> files;
  core::Borrowed<WaitKinds> kinds;
};

// As much of a wait-for graph as can be viewed: the waits of some processes or of all, open or long
// ones first, or the most frequent ones.
class WaitGraphView {
 public:
  struct Node {
    enum class Kind : u8 {
      thread,
      object,
      lock,
      disk,
      file,
      wait_kind,
      interrupts,
      more_threads,
      more_objects
    };
    Kind kind;
    u32 index;  // of the thread or object; for other kinds, of one of the edges that name it
    u64 count;  // of those that are not shown
  };
  struct Edge {
    enum class Kind : u8 { waits, owner, woken, stated, lock_owner, request, file, wait_kind };
    Kind kind;
    u32 from, to;  // numbers of nodes
    u32 index;     // of the edge in the table that it comes from
  };

  // `processes` are numbers in the Population; absent: all. At most `most_nodes` threads and
  // objects. The evidence must outlive the view.
  WaitGraphView(const WaitEvidence& evidence, const Population& population,
                const std::optional<std::vector<Index>>& processes, std::size_t most_nodes,
                RowOrder order = RowOrder::time);

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }
  [[nodiscard]] u64 threads_left_out() const { return threads_left_out_; }
  [[nodiscard]] u64 objects_left_out() const { return objects_left_out_; }

  // All that follow: the most frequent first, if that is the order. Otherwise as is said here.
  // By importance: open waits of the processes, then the longest.
  [[nodiscard]] const std::vector<u32>& waits() const { return waits_; }
  // If the trace names no objects.
  [[nodiscard]] const std::vector<u32>& wakes() const { return wakes_; }
  // Of the objects that these waits are for.
  [[nodiscard]] const std::vector<u32>& owners() const { return owners_; }
  // In the order in which they came.
  [[nodiscard]] const std::vector<u32>& stated() const { return stated_edges_; }
  [[nodiscard]] const std::vector<u32>& lock_owners() const { return lock_owners_; }
  // Open ones, then the longest.
  [[nodiscard]] const std::vector<u32>& requests() const { return requests_; }
  [[nodiscard]] const std::vector<u32>& files() const { return files_; }
  // The longest first.
  [[nodiscard]] const std::vector<u32>& kinds() const { return kinds_; }

 private:
  static constexpr u32 no_node = 0xffff'ffff;

  void choose(const Population& population, const std::optional<std::vector<Index>>& processes);
  void sort_by_count();
  void place_waits(std::size_t most_nodes);
  void place_wakes(std::size_t most_nodes);
  void place_stated(std::size_t most_nodes);
  void place_lock_owners(std::size_t most_nodes);
  void place_requests(std::size_t most_nodes);
  void place_files(std::size_t most_nodes);
  void place_kinds(std::size_t most_nodes);
  template <class Key>
  u32 shared_node(Node::Kind kind, u32 index, std::map<Key, u32>& nodes, const Key& key,
                  std::size_t most_nodes);
  template <class Key>
  void place(Edge::Kind edge_kind, Node::Kind kind, Index thread, u32 index,
             std::map<Key, u32>& nodes, const Key& key, std::size_t most_nodes);
  u32 node(Node::Kind kind, u32 index, std::vector<u32>& numbers, std::size_t most_nodes);
  u32 object_node(ObjectIndex object, std::size_t most_nodes);
  void count_left_out();

  const WaitGraph& graph_;
  const StatedWaits& stated_;
  const LockOwners& locks_;
  const RequestWaits& request_waits_;
  const FileWaits& file_waits_;
  const WaitKinds& wait_kinds_;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<u32> waits_, wakes_, owners_, stated_edges_, lock_owners_, requests_, files_, kinds_;
  std::vector<u32> node_of_thread_, node_of_object_;
  using DiskKey = std::pair<std::optional<u32>, DiskAction>;
  std::map<u64, u32> node_of_lock_;
  std::map<DiskKey, u32> node_of_disk_;
  std::map<u32, u32> node_of_file_;
  std::map<WaitKind, u32> node_of_kind_;
  u32 interrupts_ = no_node;
  u64 threads_left_out_ = 0, objects_left_out_ = 0;
};

}  // namespace coldtrace::trace_analysis
