#pragma once

#include <initializer_list>
#include <optional>

#include "cli/trace/symbol_names.hpp"
#include "cli/trace/trace_input.hpp"
#include "coldtrace/trace_analysis/findings/logging_needs.hpp"
#include "coldtrace/trace_analysis/records/observation.hpp"
#include "coldtrace/trace_analysis/records/trace_times.hpp"

namespace coldtrace::cli {

// Options of every command that analyses a trace.
struct AnalysisOptions : TraceInputOptions {
  tracefile::EventSelection times;
  SymbolOptions symbols;  // for commands that show functions
};

void add_analysis_options(Command& command, AnalysisOptions& options);

// The header members of every such answer, about what was analysed.
void write_observed(JsonWriter& json, const tracefile::AnyTrace& trace,
                    const trace_analysis::Observed& observed);

// Runs an analysis command from the trace to the exit code.
class AnalysisRun {
 public:
  // `options` must outlive the run.
  AnalysisRun(const AnalysisOptions& options, TraceUse use);
  AnalysisRun(const AnalysisRun&) = delete;
  AnalysisRun& operator=(const AnalysisRun&) = delete;

  // Whether the trace could be opened; if not, the report says why, and nothing below may be used.
  bool opened() const { return observation_.has_value(); }

  // Passes the events to the analyses. Notes what is wrong with them.
  void observe(std::initializer_list<trace_analysis::Analysis*> analyses,
               trace_analysis::EventPairs* pairs = nullptr) {
    observe({analyses.begin(), analyses.size()}, pairs, nullptr);
  }
  void observe(std::span<trace_analysis::Analysis* const> analyses,
               trace_analysis::EventPairs* pairs, trace_analysis::EventWitness* witness);

  // Notes that the trace lacks the events for an answer, or has none between --from and --to.
  // `needs`: any of these has to be logged.
  void note_no_match(std::string_view why, std::initializer_list<trace_analysis::Need> needs = {});

  TraceInput& input() { return *input_; }
  const trace_analysis::Observation& observation() const { return *observation_; }
  core::Findings& findings() { return input_->findings; }
  SymbolNames& symbols() { return *symbols_; }
  Report& report() { return report_; }

  // Finishes with a complete output.
  template <class AnyOutput>
  Exit finish(AnyOutput& output) {
    output.commit();
    return tell();
  }

 private:
  Exit tell();

  const AnalysisOptions& options_;
  Report report_;
  std::optional<TraceInput> input_;
  std::optional<SymbolNames> symbols_;
  std::optional<trace_analysis::Observation> observation_;
};

using trace_analysis::duration_text;
using trace_analysis::Need;
using trace_analysis::TraceTimes;

}  // namespace coldtrace::cli
