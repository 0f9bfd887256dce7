#pragma once

#include "coldtrace/core/findings.hpp"
#include "coldtrace/trace_analysis/turns.hpp"

namespace coldtrace::cli {

// What context switches lack, and where they contradict each other.
void note_switches(const trace_analysis::Turns::Counts& counts, core::Findings& findings);
// Only where they contradict each other.
void note_overlaps(const trace_analysis::Turns::Counts& counts, core::Findings& findings);

}  // namespace coldtrace::cli
