#pragma once

#include "cli/trace/analysis/analysis_input.hpp"
#include "coldtrace/trace_analysis/processors/call_tree.hpp"
#include "coldtrace/trace_analysis/records/code_names.hpp"
#include "coldtrace/trace_analysis/requests/file_table.hpp"

namespace coldtrace::cli {

// The names of frames in call paths. Processes and threads with a reused id are told apart by their
// start.
class StackLabels {
 public:
  // All but `times` must outlive it, and be complete. `files` names the files in paths.
  StackLabels(const trace_analysis::Population& population, const trace_analysis::CodeNames& code,
              const TraceTimes& times, const trace_analysis::FileTable* files = nullptr);

  // For a thread, preceded by the label of its process and `separator`.
  std::string label(const trace_analysis::Frame& frame, std::string_view separator) const;
  // The labels of a process, which may be `nobody`, and of a thread without its process.
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
