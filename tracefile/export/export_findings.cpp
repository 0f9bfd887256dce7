#include "coldtrace/trace_export/export_findings.hpp"

#include "coldtrace/core/text.hpp"

namespace coldtrace::trace_export {

void note_begun_before(u64 things, core::Findings& findings) {
  if (things > 0)
    findings.info(
        "timeline-start", std::nullopt, "{} left out",
        core::counted(things, "call, interrupt or request began before the first event, and is",
                      "calls, interrupts and requests began before the first event, and are"));
}

void note_left_out(const PerfettoTrace& trace, core::Findings& findings) {
  note_begun_before(trace.left_out(), findings);
  if (const auto beyond = trace.beyond_limits(); beyond > 0)
    findings.warning("export-limit", std::nullopt, "{} beyond what the export has room for",
                     core::counted(beyond, "request is", "requests are"));
}

void note_left_out(const CtfTrace& trace, core::Findings& findings) {
  note_begun_before(trace.left_out(), findings);
  if (const auto beyond = trace.beyond_limits(); beyond > 0)
    findings.warning(
        "export-limit", std::nullopt, "{} belong{}",
        core::counted(
            beyond, "event is left out or placed later: the export has no room for it where it",
            "events are left out or placed later: the export has no room for them where they"),
        beyond == 1 ? "s" : "");
}

void note_left_out(const SampledThreads& samples, u64 markers, core::Findings& findings) {
  if (const auto beyond = samples.left_out() + markers; beyond > 0)
    findings.warning("export-limit", std::nullopt, "{} beyond what the export has room for",
                     core::counted(beyond, "sample or marker is", "samples and markers are"));
  if (const auto cut = samples.tree().cut() + samples.stacks().cut(); cut > 0)
    findings.warning("stacks-cut", std::nullopt, "{} time is with the part that is kept",
                     core::counted(cut, "stack exceeds the depth or number that is kept; its",
                                   "stacks exceed the depth or number that is kept; their"));
}

void note_left_out(const PathTimes& times, core::Findings& findings) {
  if (const auto beyond = times.left_out(); beyond > 0)
    findings.warning("export-limit", std::nullopt, "{} beyond what the export has room for",
                     core::counted(beyond, "sample is", "samples are"));
}

void note_weights(const EventStacks& stacks, std::string_view field, core::Findings& findings) {
  if (const auto without = stacks.without_field(); without > 0)
    findings.warning("weight-missing", std::nullopt,
                     "{} no field {} with a non-negative number; {} left out",
                     core::counted(without, "event has", "events have"), field,
                     without == 1 ? "it is" : "they are");
}

void note_untimed(u64 events, core::Findings& findings) {
  if (events > 0)
    findings.warning("export-untimed", std::nullopt, "{} left out",
                     core::counted(events, "event has no time, which the format requires: it is",
                                   "events have no time, which the format requires: they are"));
}

void note_without_table(u64 events, std::size_t most, core::Findings& findings) {
  if (events > 0)
    findings.warning("export-tables", std::nullopt,
                     "{} beyond the {} that get a table of their own: {} fields are in the "
                     "column `more` of the table `event`",
                     core::counted(events, "event is of a kind", "events are of kinds"), most,
                     events == 1 ? "its" : "their");
}

void note_unfit_values(u64 values, core::Findings& findings) {
  if (values > 0)
    findings.info("export-values", std::nullopt, "{} in the column `more` of the table `event`",
                  core::counted(values, "value does not fit the column of its field: it is",
                                "values do not fit the columns of their fields: they are"));
}

}  // namespace coldtrace::trace_export
