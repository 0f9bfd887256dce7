#include "cli/trace/analysis/switch_findings.hpp"

namespace coldtrace::cli {

void note_switches(const trace_analysis::Turns::Counts& counts, AnalysisRun& run) {
  if (counts.switches == 0) run.note_no_match("the trace has no context switches", "CSWITCH");
  note_ready_events(counts, run);
  note_overlaps(counts, run.findings());
}

void note_ready_events(const trace_analysis::Turns::Counts& counts, AnalysisRun& run) {
  if (counts.switches > 0 && counts.readied == 0)
    run.findings().info("no-ready-events", std::nullopt,
                        "no event says when threads became ready{}: waiting and ready are not told "
                        "apart",
                        run.flags_text("DISPATCHER"));
}

void note_overlaps(const trace_analysis::Turns::Counts& counts, core::Findings& findings) {
  if (counts.overlapping > 0)
    findings.warning("switch-overlap", std::nullopt,
                     "{} switches are from a thread that is on another processor",
                     counts.overlapping);
}

}  // namespace coldtrace::cli
