#pragma once

#include <span>

#include "cli/trace/trace_input.hpp"
#include "coldtrace/trace_analysis/observation.hpp"

namespace coldtrace::cli {

// Options of every command that answers a question from a trace.
struct AnalysisOptions : TraceInputOptions {
  tracefile::EventSelection times;
};

void add_analysis_options(Command& command, AnalysisOptions& options);

// The header members of every such answer: what was analysed.
void write_observed(JsonWriter& json, const tracefile::AnyTrace& trace,
                    const trace_analysis::Observed& observed);

// What a pass over the events found wrong, beside what opening the trace found.
void note_observation(const trace_analysis::Observation& observation, core::Findings& findings);

// Ticks of a trace as people and programs read them.
class TraceTimes {
 public:
  TraceTimes(const tracefile::Clock& clock, std::optional<i64> first)
      : clock_{clock}, first_{first.value_or(0)} {}

  // "2024-02-29T12:34:56.1234567Z"; nothing where the trace has lost its clock.
  std::optional<std::string> utc(std::optional<i64> time) const;
  // "+1.234567": seconds since the first event.
  std::string since_start(i64 time) const;

 private:
  const tracefile::Clock& clock_;
  i64 first_;
};

}  // namespace coldtrace::cli
