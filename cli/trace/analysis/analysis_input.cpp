#include "cli/trace/analysis/analysis_input.hpp"

#include <fmt/format.h>

#include "coldtrace/trace_analysis/ticks.hpp"

namespace coldtrace::cli {

void add_analysis_options(Command& command, AnalysisOptions& options) {
  add_trace_input_options(command, options);
  add_time_options(command, options.times);
}

void write_observed(JsonWriter& json, const tracefile::AnyTrace& trace,
                    const trace_analysis::Observed& observed) {
  const TraceTimes times{trace.clock(), observed.first};
  json.field("format", trace.format())
      .field("first_event", times.utc(observed.first))
      .field("last_event", times.utc(observed.last))
      .field("events", observed.events)
      .field("lost_stretches", u64{observed.losses.all().size()});
}

void note_observation(const trace_analysis::Observation& observation, core::Findings& findings) {
  if (const auto unread = observation.unread_buffers(); unread > 0)
    findings.warning("trace-changed", std::nullopt,
                     "{} buffers could be read when the trace was opened and not again", unread);
  if (const auto unreadable = observation.observed().unreadable; unreadable > 0)
    findings.warning("record-unreadable", std::nullopt,
                     "{} events that an analysis needs lack the fields that matter", unreadable);
}

std::optional<std::string> TraceTimes::utc(std::optional<i64> time) const {
  if (!time || !clock_.known()) return std::nullopt;
  return core::to_string(clock_.to_file_time(*time));
}

std::string TraceTimes::since_start(i64 time) const {
  const bool before = time < first_;
  const auto units = clock_.to_duration(before ? trace_analysis::ticks_between(time, first_)
                                               : trace_analysis::ticks_between(first_, time));
  return fmt::format("{}{}.{:07}", before ? '-' : '+', units / 10'000'000, units % 10'000'000);
}

}  // namespace coldtrace::cli
