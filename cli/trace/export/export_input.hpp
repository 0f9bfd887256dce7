#pragma once

#include "cli/trace/analysis/analysis_input.hpp"
#include "coldtrace/trace_export/timeline.hpp"

namespace coldtrace::cli {

// Options of every export that shows what happened when. `times` has the whole selection.
struct ExportOptions : AnalysisOptions {
  std::optional<std::string> where;
  std::string syscall_map;
};

void add_export_options(Command& command, ExportOptions& options);

// A trace that is being exported. `options` must outlive it.
class ExportRun {
 public:
  explicit ExportRun(ExportOptions options);
  ExportRun(const ExportRun&) = delete;
  ExportRun& operator=(const ExportRun&) = delete;

  // Whether there is a trace and a valid selection; if not, that has been reported.
  bool opened() const { return run_ && run_->opened() && is_ready_; }

  const ExportOptions& options() const { return options_; }
  AnalysisRun& run() { return *run_; }
  const SystemCallNames* calls() const { return calls_ ? &*calls_ : nullptr; }

  // Passes all events to the timeline and to the other analyses.
  void observe(trace_export::Timeline& timeline,
               std::initializer_list<trace_analysis::Analysis*> others = {});

 private:
  ExportOptions options_;
  std::optional<AnalysisRun> run_;
  std::optional<SystemCallNames> calls_;
  bool is_ready_ = true;
};

}  // namespace coldtrace::cli
