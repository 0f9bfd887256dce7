#include "cli/trace/analysis/analysis_input.hpp"

#include <fmt/format.h>

#include "cli/trace/unread_buffers.hpp"
#include "coldtrace/trace_analysis/records/ticks.hpp"

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
  note_unread_buffers(findings(), observation_->unread_buffers());
  if (const auto broken = observation_->losses().broken_chains(); broken > 0)
    findings().warning("switch-chain", std::nullopt,
                       "{} switches are from a thread that their processor had not gone to: events "
                       "are missing",
                       broken);
  if (const auto backward = observation_->losses().backward_switches(); backward > 0)
    findings().warning("switch-order", std::nullopt,
                       "{} switches are older than one before them on their processor: who ran "
                       "around them is unknown",
                       backward);
  if (const auto unreadable = observation_->observed().unreadable; unreadable > 0)
    findings().warning("record-unreadable", std::nullopt,
                       "{} events that an analysis needs lack the fields that matter", unreadable);
}

std::string AnalysisRun::flags_text(std::string_view flags) const {
  return flags.empty() || input_->trace.etl() == nullptr
             ? std::string{}
             : fmt::format(" ({} of the kernel's flags)", flags);
}

void AnalysisRun::note_no_match(std::string_view why, std::string_view flags) {
  const bool limited = options_.times.from || options_.times.to;
  if (limited && observation_->observed().events == 0)
    findings().warning("no-match", std::nullopt,
                       "no event of the trace is between --from and --to");
  else
    findings().warning("no-match", std::nullopt, "{}{}{}", why, flags_text(flags),
                       limited ? " between --from and --to" : "");
}

Exit AnalysisRun::tell() {
  symbols_->finish(report_);
  input_->tell(report_);
  return report_.exit();
}

std::string seconds_text(i64 units) {
  return fmt::format("{}.{:07}", units / 10'000'000, units % 10'000'000);
}

std::string duration_text(i64 units) {
  constexpr i64 millisecond = 10'000, second = 1'000 * millisecond;
  const auto in = [&](i64 unit) { return static_cast<double>(units) / static_cast<double>(unit); };
  if (units < millisecond) return fmt::format("{:.1f} us", in(millisecond / 1'000));
  if (units < second) return fmt::format("{:.2f} ms", in(millisecond));
  return fmt::format("{:.3f} s", in(second));
}

std::optional<std::string> TraceTimes::utc(std::optional<i64> time) const {
  const auto utc = time ? clock_.find_file_time(*time) : std::nullopt;
  return utc ? std::optional{core::to_string(*utc)} : std::nullopt;
}

std::string TraceTimes::since_start(i64 time) const {
  const bool before = time < first_;
  const auto ticks = before ? trace_analysis::ticks_between(time, first_)
                            : trace_analysis::ticks_between(first_, time);
  return (before ? '-' : '+') + seconds(ticks);
}

}  // namespace coldtrace::cli
