#include "coldtrace/trace_analysis/processes/process_tree.hpp"

namespace coldtrace::trace_analysis {

// Items keep their order, which is that of their first record.
ProcessTree::Lists ProcessTree::Lists::group(std::size_t lists,
                                             std::span<const Index> list_of_item) {
  Lists made;
  made.first.assign(lists + 1, 0);
  for (const auto list : list_of_item)
    if (list != nobody) ++made.first[list + 1];
  for (std::size_t i = 1; i <= lists; ++i) made.first[i] += made.first[i - 1];
  made.items.resize(made.first[lists]);
  auto next = made.first;
  for (Index item = 0; item < list_of_item.size(); ++item)
    if (list_of_item[item] != nobody) made.items[next[list_of_item[item]]++] = item;
  return made;
}

ProcessTree::ProcessTree(core::Borrowed<Population> population) : population_{population.get()} {
  const auto& processes = population_.processes();
  const auto& threads = population_.threads();
  parents_.resize(processes.size());
  for (Index i = 0; i < processes.size(); ++i) parents_[i] = stated_or_creator(i);
  cut_cycles();
  children_ = Lists::group(processes.size(), parents_);
  for (Index i = 0; i < processes.size(); ++i)
    if (parents_[i] == nobody) roots_.push_back(i);
  std::vector<Index> owners(threads.size());
  for (Index i = 0; i < threads.size(); ++i) {
    owners[i] = threads[i].process;
    if (owners[i] == nobody) strays_.push_back(i);
  }
  threads_ = Lists::group(processes.size(), owners);
}

Index ProcessTree::stated_or_creator(Index process) const {
  const auto& one = population_.processes()[process];
  Index parent = one.parent;
  if (one.creator != nobody) {
    const auto creator = population_.threads()[one.creator].process;
    if (creator != nobody) parent = creator;
  }
  return parent == process ? nobody : parent;
}

bool ProcessTree::has_other_parent(Index process) const {
  const auto& one = population_.processes()[process];
  if (one.creator == nobody || !one.stated_parent) return false;
  const auto creator = population_.threads()[one.creator].process;
  return creator != nobody && population_.processes()[creator].pid != *one.stated_parent;
}

// Processes that a rundown lists can name each other as parents, by ids that were used again or by
// damage: the one that is met first is a root then.
void ProcessTree::cut_cycles() {
  constexpr u32 not_visited = 0;
  std::vector<u32> visited(parents_.size(), not_visited);
  for (Index start = 0; start < parents_.size(); ++start) {
    const u32 walk = start + 1;
    for (Index at = start; at != nobody && visited[at] != walk; at = parents_[at]) {
      if (visited[at] != not_visited) break;
      visited[at] = walk;
      if (parents_[at] != nobody && visited[parents_[at]] == walk) parents_[at] = nobody;
    }
  }
}

}  // namespace coldtrace::trace_analysis
