#include "coldtrace/trace_export/export_findings.hpp"

namespace coldtrace::trace_export {

void note_begun_before(u64 things, core::Findings& findings) {
  if (things > 0)
    findings.info(
        "timeline-start", std::nullopt,
        "{} calls, interrupts and requests began before the first event, and are left out", things);
}

void note_left_out(const PerfettoTrace& trace, core::Findings& findings) {
  note_begun_before(trace.left_out(), findings);
  if (const auto beyond = trace.beyond_limits(); beyond > 0)
    findings.warning("export-limit", std::nullopt,
                     "{} requests are beyond those that the export has room for", beyond);
}

void note_left_out(const CtfTrace& trace, core::Findings& findings) {
  note_begun_before(trace.left_out(), findings);
  if (const auto beyond = trace.beyond_limits(); beyond > 0)
    findings.warning("export-limit", std::nullopt,
                     "{} events are left out, or later than they were: the export has no room for "
                     "them where they belong",
                     beyond);
}

void note_left_out(const SampledThreads& samples, u64 markers, core::Findings& findings) {
  if (const auto beyond = samples.left_out() + markers; beyond > 0)
    findings.warning("export-limit", std::nullopt,
                     "{} samples and markers are beyond those that the export has room for",
                     beyond);
  if (const auto cut = samples.tree().cut() + samples.stacks().cut(); cut > 0)
    findings.warning("stacks-cut", std::nullopt,
                     "{} stacks are longer or more than are kept; their time is with the part "
                     "that is",
                     cut);
}

void note_left_out(const PathTimes& times, core::Findings& findings) {
  if (const auto beyond = times.left_out(); beyond > 0)
    findings.warning("export-limit", std::nullopt,
                     "{} samples are beyond those that the export has room for", beyond);
}

void note_weights(const EventStacks& stacks, std::string_view field, core::Findings& findings) {
  if (const auto without = stacks.without_field(); without > 0)
    findings.warning("weight-missing", std::nullopt,
                     "{} events have no field {} that is a number and not negative; they are left "
                     "out",
                     without, field);
}

void note_untimed(u64 events, core::Findings& findings) {
  if (events > 0)
    findings.warning("export-untimed", std::nullopt,
                     "{} events have no time, without which the format has no place for them: they "
                     "are left out",
                     events);
}

void note_without_table(u64 events, std::size_t most, core::Findings& findings) {
  if (events > 0)
    findings.warning("export-tables", std::nullopt,
                     "{} events are of kinds beyond the {} that get a table of their own: their "
                     "fields are in the column more of the table event",
                     events, most);
}

void note_unfit_values(u64 values, core::Findings& findings) {
  if (values > 0)
    findings.info("export-values", std::nullopt,
                  "{} values do not fit the columns of their fields: they are in the column more "
                  "of the table event",
                  values);
}

}  // namespace coldtrace::trace_export
