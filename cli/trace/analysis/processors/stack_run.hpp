#pragma once

#include "cli/trace/analysis/processors/collapsed_stacks.hpp"
#include "coldtrace/trace_analysis/waits/waiting_stacks.hpp"
#include "coldtrace/trace_export/disk_stacks.hpp"
#include "coldtrace/trace_export/event_stacks.hpp"

namespace coldtrace::cli {

// Options of every command that writes call paths.
struct StackOptions : AnalysisOptions {
  std::optional<std::string> where;    // for events, as are all of `times` but the times
  std::string stacks = "running";      // or "waiting", "disk", "events"
  std::optional<std::string> weight;   // a field of events
  std::vector<std::string> processes;  // ids, names or globs
};

// The call paths of a trace, and what they spent time on.
class StackRun {
 public:
  // `each` receives the samples of running stacks.
  explicit StackRun(StackOptions options, trace_analysis::RunningStacks::Sink each = {});
  StackRun(const StackRun&) = delete;
  StackRun& operator=(const StackRun&) = delete;

  // Whether the trace was read; if not, the reason has been reported.
  bool opened() const { return run_ && run_->opened() && is_ready_; }

  AnalysisRun& run() { return *run_; }
  const trace_analysis::CallTree& tree() const;
  // How to write it, with the wanted processes.
  CollapsedContext context();
  // Reports what was left out, including `unwritten` paths.
  void note(u64 unwritten);

 private:
  const trace_analysis::StackJoin& joined() const;
  void observe();

  StackOptions options_;
  std::optional<AnalysisRun> run_;
  std::optional<trace_analysis::CodeNames> code_;
  std::optional<trace_analysis::RunningStacks> running_;
  std::optional<trace_analysis::WaitingStacks> waiting_;
  std::optional<trace_export::DiskStacks> disk_;
  std::optional<trace_export::EventStacks> events_;
  bool is_ready_ = true;
};

// Writes the collapsed form, from the trace to the exit code.
Exit run_collapsed(const StackOptions& options);

}  // namespace coldtrace::cli
