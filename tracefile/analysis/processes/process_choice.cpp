#include "coldtrace/trace_analysis/processes/process_choice.hpp"

#include <string_view>

#include "coldtrace/core/no_match.hpp"
#include "coldtrace/tracefile/selection/event_selection.hpp"

namespace coldtrace::trace_analysis {

std::vector<Index> find_processes(const Population& population,
                                  const std::vector<std::string>& wanted,
                                  core::Findings& findings) {
  const auto& processes = population.processes();
  std::vector<bool> met(wanted.size());
  std::vector<Index> found;
  std::vector<std::string_view> names;
  for (Index i = 0; i < processes.size(); ++i) {
    const auto& process = processes[i];
    names.push_back(process.image_name);
    bool any = false;
    for (std::size_t k = 0; k < wanted.size(); ++k)
      if (tracefile::is_process(wanted[k], process.pid, process.image_name)) met[k] = any = true;
    if (any) found.push_back(i);
  }
  core::NoMatch unmatched;
  for (std::size_t k = 0; k < wanted.size(); ++k)
    if (!met[k]) unmatched.add("--process", wanted[k], names);
  unmatched.report(findings);
  return found;
}

}  // namespace coldtrace::trace_analysis
