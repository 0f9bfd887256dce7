#pragma once

#include <set>
#include <string>
#include <vector>

#include "coldtrace/trace_analysis/records/population.hpp"
#include "coldtrace/tracefile/selection/event_selection.hpp"

namespace coldtrace::trace_analysis {

// The threads that the processes and threads of a selection stand for; all if it names none.
class ChosenThreads {
 public:
  explicit ChosenThreads(const tracefile::EventSelection& selection);

  // Whether the selection includes the thread, by its id or its process.
  [[nodiscard]] bool has(const Population& population, Index thread) const;

 private:
  std::vector<std::string> processes_;
  std::set<u32> tids_;
};

}  // namespace coldtrace::trace_analysis
