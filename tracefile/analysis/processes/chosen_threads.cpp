#include "coldtrace/trace_analysis/processes/chosen_threads.hpp"

#include <algorithm>

namespace coldtrace::trace_analysis {

ChosenThreads::ChosenThreads(const tracefile::EventSelection& selection)
    : processes_{selection.processes}, tids_{selection.tids.begin(), selection.tids.end()} {}

bool ChosenThreads::has(const Population& population, Index thread) const {
  if (processes_.empty() && tids_.empty()) return true;
  if (thread == nobody) return false;
  const auto& who = population.threads()[thread];
  if (!tids_.empty() && !tids_.contains(who.tid)) return false;
  if (processes_.empty()) return true;
  if (who.process == nobody) return false;
  const auto& process = population.processes()[who.process];
  return std::any_of(processes_.begin(), processes_.end(), [&](const std::string& wanted) {
    return tracefile::is_process(wanted, process.pid, process.image_name);
  });
}

}  // namespace coldtrace::trace_analysis
