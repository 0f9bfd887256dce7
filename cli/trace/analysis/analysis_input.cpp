#include "cli/trace/analysis/analysis_input.hpp"

#include "coldtrace/trace_analysis/findings/answer_findings.hpp"
#include "coldtrace/tracefile/events/sequence_findings.hpp"

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

AnalysisRun::AnalysisRun(const AnalysisOptions& options, TraceUse use)
    : options_{options}, report_{options.findings}, input_{open_trace(options, use, report_)} {
  if (!input_ || !check_one_run(*input_, report_)) return;
  symbols_.emplace(input_->trace.names(), options.symbols, input_->findings, report_);
  tracefile::StreamOptions stream;
  tracefile::limit_to_times(options.times, input_->trace.clock(), stream);
  stream.progress = input_->begin_progress("looking for losses");
  observation_.emplace(input_->trace, stream);
}

void AnalysisRun::observe(std::span<trace_analysis::Analysis* const> analyses,
                          trace_analysis::EventPairs* pairs,
                          trace_analysis::EventWitness* witness) {
  input_->begin_progress("analysing");
  observation_->run(analyses, pairs, witness);
  tracefile::note_unread_buffers(observation_->unread_buffers(), findings());
  trace_analysis::note_observation(*observation_, findings());
}

void AnalysisRun::note_no_match(std::string_view why, std::initializer_list<Need> needs) {
  trace_analysis::note_no_match(observation_->observed(), options_.times, why,
                                trace_analysis::logging_hint(needs, input_->trace), findings());
}

Exit AnalysisRun::tell() {
  symbols_->finish(report_);
  input_->tell(report_);
  return report_.exit();
}

}  // namespace coldtrace::cli
