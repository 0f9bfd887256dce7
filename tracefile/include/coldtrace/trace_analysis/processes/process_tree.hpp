#pragma once

#include <span>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/trace_analysis/records/population.hpp"

namespace coldtrace::trace_analysis {

// Who started whom. A process belongs under the process of the thread that created it or, if that
// is not known, under the one that it names as its parent.
class ProcessTree {
 public:
  // `population` must outlive the tree.
  explicit ProcessTree(core::Borrowed<Population> population);

  [[nodiscard]] const Population& population() const { return population_; }

  // nobody: it is a root.
  [[nodiscard]] Index parent_of(Index process) const { return parents_[process]; }
  // In the order of their start, like all lists here.
  [[nodiscard]] std::span<const Index> roots() const { return roots_; }
  [[nodiscard]] std::span<const Index> children_of(Index process) const {
    return children_.of(process);
  }
  [[nodiscard]] std::span<const Index> threads_of(Index process) const {
    return threads_.of(process);
  }
  // Threads whose process is not known.
  [[nodiscard]] std::span<const Index> stray_threads() const { return strays_; }

  // Whether the stated parent is another process than the creator's.
  [[nodiscard]] bool has_other_parent(Index process) const;

 private:
  // Lists stored one after the other.
  struct Lists {
    std::vector<u32> first;  // of each list, and the end
    std::vector<Index> items;

    static Lists group(std::size_t lists, std::span<const Index> list_of_item);
    std::span<const Index> of(Index list) const {
      return std::span{items}.subspan(first[list], first[list + 1] - first[list]);
    }
  };

  Index stated_or_creator(Index process) const;
  void cut_cycles();

  const Population& population_;
  std::vector<Index> parents_;
  std::vector<Index> roots_, strays_;
  Lists children_, threads_;
};

}  // namespace coldtrace::trace_analysis
