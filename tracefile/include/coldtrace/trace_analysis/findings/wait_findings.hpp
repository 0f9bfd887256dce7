#pragma once

#include <span>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/trace_analysis/records/trace_times.hpp"
#include "coldtrace/trace_analysis/waits/critical_path.hpp"
#include "coldtrace/trace_analysis/waits/wait_graph_view.hpp"

namespace coldtrace::trace_analysis {

// As answer_findings.hpp, for answers that follow waits.

// `window-cut`, `interrupts-cut` and `path-unproved`.
void note_critical_path(const CriticalPath& path, std::span<const Hop> hops,
                        const TraceTimes& times, core::Findings& findings);

// Whether the trace shows any wait, by objects or by who ended it.
[[nodiscard]] bool any_wait(const WaitEvidence& evidence);
// `wait-limit`, `stacks-cut` and, where there is any wait, `wait-unnamed`.
void note_wait_graph(const WaitEvidence& evidence, core::Findings& findings);

}  // namespace coldtrace::trace_analysis
