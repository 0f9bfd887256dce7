#pragma once

#include "coldtrace/core/findings.hpp"
#include "coldtrace/trace_analysis/processors/processor_use.hpp"
#include "coldtrace/trace_analysis/services/services.hpp"
#include "coldtrace/trace_analysis/waits/deadlocks.hpp"

namespace coldtrace::cli {

// What is missing of answers, and what was left out of them, in the words of each command that
// gives them. That a trace has nothing of the kind is for the command to say.
void note_processor_use(const trace_analysis::ProcessorUse& use,
                        const trace_analysis::CodeNames& code, core::Findings& findings);
// Of addresses in functions beyond those that are kept.
void note_code(u64 left_out, core::Findings& findings);
void note_services(const trace_analysis::Services& services, core::Findings& findings);
void note_deadlocks(const trace_analysis::Deadlocks& deadlocks, core::Findings& findings);

}  // namespace coldtrace::cli
