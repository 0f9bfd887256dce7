#pragma once

#include <tuple>

#include "coldtrace/trace_analysis/records/analysis.hpp"
#include "coldtrace/trace_analysis/waits/edge_table.hpp"

namespace coldtrace::trace_analysis {

// Who owned a lock that others waited for: the kernel raises the priority of such an owner, and
// names both the lock and the owner (AutoBoostSetFloor). This is true at that moment; the waiting
// thread is not named. Memory grows with the pairs, up to a stated limit.
class LockOwners final : public Analysis {
 public:
  struct Edge {
    u64 lock;  // address
    Index owner;
    Index by;  // the thread that logged it; nobody: not known
    u64 count = 0;
    Moment last;
  };
  static constexpr std::size_t most_edges = std::size_t{1} << 16;

  void on_priority_change(const PriorityChange& record) override;

  // In the order in which they came.
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_.all(); }
  [[nodiscard]] u64 left_out() const { return edges_.left_out(); }

 private:
  EdgeTable<Edge, std::tuple<u64, Index, Index>> edges_{most_edges};
};

}  // namespace coldtrace::trace_analysis
