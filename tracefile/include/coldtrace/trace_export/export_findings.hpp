#pragma once

#include <string_view>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/trace_export/ctf_trace.hpp"
#include "coldtrace/trace_export/event_stacks.hpp"
#include "coldtrace/trace_export/path_times.hpp"
#include "coldtrace/trace_export/perfetto_trace.hpp"
#include "coldtrace/trace_export/sampled_threads.hpp"

namespace coldtrace::trace_export {

// What an export leaves out, as findings whose codes are in docs/findings.md. A complete export has
// none.

// `timeline-start`: what began before the first event has no known begin.
void note_begun_before(u64 things, core::Findings& findings);
// `timeline-start` and `export-limit`.
void note_left_out(const PerfettoTrace& trace, core::Findings& findings);
void note_left_out(const CtfTrace& trace, core::Findings& findings);
// `export-limit` and `stacks-cut`; `markers` is how many of those are left out.
void note_left_out(const SampledThreads& samples, u64 markers, core::Findings& findings);
// `export-limit`: of samples alone.
void note_left_out(const PathTimes& times, core::Findings& findings);
// `weight-missing`: events without the field that stacks are weighed by.
void note_weights(const EventStacks& stacks, std::string_view field, core::Findings& findings);

// For formats with a record for each event. `export-untimed`: events without a time, which a format
// needs.
void note_untimed(u64 events, core::Findings& findings);
// `export-tables`: events of kinds beyond the `most` that have a table of their own.
void note_without_table(u64 events, std::size_t most, core::Findings& findings);
// `export-values`: values that do not fit their column.
void note_unfit_values(u64 values, core::Findings& findings);

}  // namespace coldtrace::trace_export
