#pragma once

#include <initializer_list>
#include <optional>

#include "cli/trace/symbol_names.hpp"
#include "cli/trace/trace_input.hpp"
#include "coldtrace/trace_analysis/findings/logging_needs.hpp"
#include "coldtrace/trace_analysis/records/observation.hpp"
#include "coldtrace/trace_analysis/records/trace_times.hpp"

namespace coldtrace::cli {

// Options of every command that answers a question from a trace.
struct AnalysisOptions : TraceInputOptions {
  tracefile::EventSelection times;
  SymbolOptions symbols;  // of commands that show functions
};

void add_analysis_options(Command& command, AnalysisOptions& options);

// The header members of every such answer: what was analysed.
void write_observed(JsonWriter& json, const tracefile::AnyTrace& trace,
                    const trace_analysis::Observed& observed);

// From the trace to the exit code, for every command that answers a question from one.
class AnalysisRun {
 public:
  // `options` must outlive the run.
  AnalysisRun(const AnalysisOptions& options, TraceUse use);
  AnalysisRun(const AnalysisRun&) = delete;
  AnalysisRun& operator=(const AnalysisRun&) = delete;

  // Whether the trace could be opened; if not, the report says why, and nothing below is there.
  bool opened() const { return observation_.has_value(); }

  // Has the analyses see the events. Notes what it finds wrong with them.
  void observe(std::initializer_list<trace_analysis::Analysis*> analyses,
               trace_analysis::EventPairs* pairs = nullptr) {
    observe({analyses.begin(), analyses.size()}, pairs, nullptr);
  }
  void observe(std::span<trace_analysis::Analysis* const> analyses,
               trace_analysis::EventPairs* pairs, trace_analysis::EventWitness* witness);

  // That the trace has nothing to answer from, or has no events between --from and --to. `needs`:
  // any of which a logger would have to write.
  void note_no_match(std::string_view why, std::initializer_list<trace_analysis::Need> needs = {});

  TraceInput& input() { return *input_; }
  const trace_analysis::Observation& observation() const { return *observation_; }
  core::Findings& findings() { return input_->findings; }
  SymbolNames& symbols() { return *symbols_; }
  Report& report() { return report_; }

  // The output is whole.
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
using trace_analysis::seconds_text;
using trace_analysis::TraceTimes;

}  // namespace coldtrace::cli
