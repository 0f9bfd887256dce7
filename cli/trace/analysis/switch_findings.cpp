#include "cli/trace/analysis/switch_findings.hpp"

#include "coldtrace/trace_analysis/findings/answer_findings.hpp"

namespace coldtrace::cli {

void note_switches(const trace_analysis::Turns::Counts& counts, AnalysisRun& run) {
  if (counts.switches == 0)
    run.note_no_match("the trace has no context switches", {Need::switches});
  note_ready_events(counts, run);
  trace_analysis::note_overlaps(counts, run.findings());
}

void note_ready_events(const trace_analysis::Turns::Counts& counts, AnalysisRun& run) {
  trace_analysis::note_ready_events(
      counts, trace_analysis::logging_hint({Need::readied}, run.input().trace), run.findings());
}

}  // namespace coldtrace::cli
