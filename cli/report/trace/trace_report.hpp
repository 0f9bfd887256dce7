#pragma once

#include "cli/report/page/page.hpp"
#include "cli/report/snapshot/traced_volumes.hpp"
#include "cli/report/trace/report_answers.hpp"

namespace coldtrace::cli {

// The answers of all analyses for the page of a trace, from one pass.
class TraceReport {
 public:
  // `run` must outlive it, and have opened its trace. `volumes` receive the requests on them, and
  // name files that the trace does not.
  TraceReport(AnalysisRun& run, const TraceReportOptions& options, TracedVolumes& volumes);
  TraceReport(const TraceReport&) = delete;
  TraceReport& operator=(const TraceReport&) = delete;

  // Reads the trace.
  void observe();
  // To be called after observe(). Adds its parts before what the page has.
  void add_to(Page& page) const;

 private:
  void note_findings();

  AnalysisRun& run_;
  TraceReportOptions options_;
  TracedVolumes& volumes_;
  const tracefile::AnyTrace& trace_;
  trace_analysis::CodeNames code_;
  trace_analysis::RestPolicy policy_;
  std::map<u32, trace_analysis::TimeBins> disk_use_;
  DrawnRequests requests_;
  trace_analysis::LongestWaits waits_;
  trace_analysis::ProcessorUse use_;
  trace_analysis::Deadlocks deadlocks_;
  trace_analysis::AtRest rest_;
  trace_analysis::DiskIo disk_;
  trace_analysis::FileIo files_;
  trace_analysis::NetworkIo network_;
  trace_analysis::Services services_;
  trace_analysis::ProcessorLanes lanes_;
  trace_analysis::RunningStacks running_;
  trace_analysis::WaitingStacks waiting_;
  trace_analysis::WaitGraph graph_;
  trace_analysis::StatedWaits stated_;
  trace_analysis::LockOwners locks_;
  trace_analysis::RequestWaits request_waits_;
  trace_analysis::FileWaits file_waits_;
  trace_analysis::WaitKinds wait_kinds_;
  trace_analysis::Priorities priorities_;
  trace_analysis::Inversions inversions_;
  TopAnswers answers_;
};

}  // namespace coldtrace::cli
