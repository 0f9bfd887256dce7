#pragma once

#include "cli/trace/analysis/analysis_input.hpp"
#include "coldtrace/trace_analysis/scheduling/turns.hpp"

namespace coldtrace::cli {

// Notes what context switches lack, and where they contradict each other.
void note_switches(const trace_analysis::Turns::Counts& counts, AnalysisRun& run);
// Notes only that there are switches but no ready-thread events.
void note_ready_events(const trace_analysis::Turns::Counts& counts, AnalysisRun& run);

}  // namespace coldtrace::cli
