#pragma once

#include "cli/trace/analysis/waits/wait_names.hpp"
#include "coldtrace/trace_analysis/waits/deadlocks.hpp"

namespace coldtrace::cli {

// Ticks from the moment in which the cycle closed to its end, or that of the trace.
i64 length_of(const trace_analysis::Deadlocks::Deadlock& one,
              const trace_analysis::Observed& observed);

// The story of each deadlock, and of mutants that were acquired in opposite orders. For a trace
// that names no objects: who waits until its end.
void write_deadlock_text(Output& output, const trace_analysis::Deadlocks& answer,
                         const WaitNames& names, const trace_analysis::Observed& observed);

}  // namespace coldtrace::cli
