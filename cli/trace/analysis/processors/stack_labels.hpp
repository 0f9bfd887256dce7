#pragma once

#include "cli/trace/analysis/analysis_input.hpp"
#include "coldtrace/trace_analysis/processors/call_tree.hpp"
#include "coldtrace/trace_analysis/records/code_names.hpp"
#include "coldtrace/trace_analysis/requests/file_table.hpp"

namespace coldtrace::cli {

// What the frames of paths of calls are called. Processes and threads with an id that another one
// had are told apart by their start.
class StackLabels {
 public:
  // All but `times` must outlive it, and are whole. Of paths with files `files` has their names.
  StackLabels(const trace_analysis::Population& population, const trace_analysis::CodeNames& code,
              const TraceTimes& times, const trace_analysis::FileTable* files = nullptr);

  // Of a thread that of its process stands in front, with `separator` between the two.
  std::string label(const trace_analysis::Frame& frame, std::string_view separator) const;
  // Of a process, which may be `nobody`, and of a thread without its process.
  std::string process(trace_analysis::Index process) const;
  std::string thread_alone(trace_analysis::Index thread) const;

 private:
  std::string thread(trace_analysis::Index index, std::string_view separator) const;

  const trace_analysis::Population& population_;
  const trace_analysis::CodeNames& code_;
  const trace_analysis::FileTable* files_;
  std::vector<std::string> thread_marks_, process_marks_;
};

}  // namespace coldtrace::cli
