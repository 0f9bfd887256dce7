#include <tuple>

#include <fmt/format.h>

#include "cli/command/version.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/analysis/services/service_choice.hpp"
#include "cli/trace/analysis/services/service_text.hpp"
#include "cli/trace/analysis/thread_names.hpp"
#include "cli/trace/trace_commands.hpp"
#include "coldtrace/core/no_match.hpp"
#include "coldtrace/trace_analysis/findings/answer_findings.hpp"
#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::EventPair;
using trace_analysis::EventPairs;
using trace_analysis::Periods;
using trace_analysis::Services;
using trace_analysis::ServiceSums;

struct TraceServicesOptions : AnalysisOptions {
  std::string syscall_map;
  ServiceChoice choice;
  RowOrder order = RowOrder::time;
  std::vector<std::string> pairs;
  u32 every = 0;                         // milliseconds; 0: no periods of that length
  std::vector<std::string> moments;      // between periods
  std::string compare_from, compare_to;  // of the one period that is shown
  u64 top = 20;                          // services in text
  u64 depth = 4;                         // of trees
  bool trees = false;
};

// All answers but the text.
class ServicesWriter {
 public:
  ServicesWriter(const TraceInput& input, const trace_analysis::Observation& observation,
                 const SymbolNames& symbols, const Services& services, const ServiceNames& names,
                 const ServiceFigures& figures, const std::vector<u32>& chosen,
                 std::optional<u64> period, Output& output)
      : input_{input},
        observation_{observation},
        symbols_{symbols},
        services_{services},
        names_{names},
        figures_{figures},
        chosen_{chosen},
        period_{period},
        shown_(services.services().size()),
        output_{output} {
    for (const auto number : chosen) shown_[number] = true;
  }

  void write_json(bool has_periods, Int64 int64) {
    JsonWriter json{output_, int64};
    json.begin_object().field("schema", "coldtrace.trace-services/1").field("tool", tool_version);
    write_observed(json, input_.trace, observation_.observed());
    json.field("without_thread", services_.without_thread())
        .field("unmatched_returns", services_.unmatched_returns())
        .key("services")
        .begin_array();
    for (const auto number : chosen_) write_service(json, number);
    json.end_array().key("calls").begin_array();
    for (const auto& edge : services_.edges())
      if (shown_[edge.caller] || shown_[edge.callee])
        json.object("caller", edge.caller, "callee", edge.callee, "calls", edge.calls, "inclusive",
                    figures_.duration(edge.inclusive));
    json.end_array().key("others").begin_array();
    for (const auto number : others()) {
      json.begin_object();
      write_identity(json, number);
      json.end_object();
    }
    json.end_array().key("periods");
    if (has_periods)
      write_periods(json);
    else
      json.value(nullptr);
    symbols_.write(json);
    json.key("findings");
    write_findings(json, input_.findings);
    json.end_object().end_document();
  }

  void write_csv() {
    output_.write(
        "service,kind,number,module,calls,open,unmatched,untimed,inclusive,exclusive,on_processor,"
        "cycles,mean,shortest,p50,p90,p99,longest,mean_cycles,shortest_cycles,p50_cycles,p90_"
        "cycles,"
        "p99_cycles,longest_cycles\n");
    for (const auto number : chosen_) {
      const auto& one = services_.services()[number];
      write_identity(one);
      print(output_, ",{},{},{},{},{},{},{},{}", one.calls, one.open, one.unmatched, one.untimed,
            figures_.duration(one.inclusive), figures_.duration(one.exclusive),
            cell(figures_.duration(one.on_processor)), cell(one.cycles));
      print(output_, ",{},{},{},{},{},{}", cell(figures_.mean(one)), cell(figures_.least(one)),
            cell(figures_.percentile(one, 50)), cell(figures_.percentile(one, 90)),
            cell(figures_.percentile(one, 99)), cell(figures_.greatest(one)));
      using Figures = ServiceFigures;
      print(output_, ",{},{},{},{},{},{}\n", cell(Figures::mean_cycles(one)),
            cell(Figures::least_cycles(one)), cell(Figures::cycle_percentile(one, 50)),
            cell(Figures::cycle_percentile(one, 90)), cell(Figures::cycle_percentile(one, 99)),
            cell(Figures::greatest_cycles(one)));
    }
  }

  void write_periods_csv() {
    output_.write(
        "from,to,service,kind,number,module,calls,begun_before,unmatched,untimed,inclusive,"
        "exclusive,on_processor,cycles,mean\n");
    for (const auto& [key, row] : services_.totals().rows()) {
      if (!shown_[key.second] || period_.value_or(key.first) != key.first) continue;
      const auto [from, to] = services_.totals().span_of(key.first);
      print(output_, "{},{},", figures_.times().utc(from).value_or(""),
            figures_.times().utc(to).value_or(""));
      write_identity(services_.services()[key.second]);
      print(output_, ",{},{},{},{},{},{},{},{},{}\n", row.calls, row.begun_before, row.unmatched,
            row.untimed, figures_.duration(row.inclusive), figures_.duration(row.exclusive),
            cell(figures_.duration(row.on_processor)), cell(row.cycles), cell(figures_.mean(row)));
    }
  }

 private:
  // Those that only calls of the chosen ones name.
  std::vector<u32> others() const {
    std::vector<bool> named(shown_.size());
    for (const auto& edge : services_.edges())
      if (shown_[edge.caller] != shown_[edge.callee])
        named[shown_[edge.caller] ? edge.callee : edge.caller] = true;
    std::vector<u32> numbers;
    for (u32 i = 0; i < named.size(); ++i)
      if (named[i]) numbers.push_back(i);
    return numbers;
  }

  void write_identity(const ServiceSums& one) {
    print(output_, "{},{},{},{}", csv_field(names_.label(one)), to_string(one.service.kind),
          one.service.number, csv_field(names_.module(one)));
  }

  void write_sums(JsonWriter& json, const trace_analysis::CallSums& sums) const {
    json.field("unmatched", sums.unmatched)
        .field("untimed", sums.untimed)
        .field("inclusive", figures_.duration(sums.inclusive))
        .field("exclusive", figures_.duration(sums.exclusive))
        .field("on_processor", figures_.duration(sums.on_processor))
        .field("cycles", sums.cycles);
  }

  void write_identity(JsonWriter& json, u32 number) const {
    const auto& one = services_.services()[number];
    json.field("id", number)
        .field("kind", to_string(one.service.kind))
        .field("number", one.service.number)
        .field("name", ExactText{text_or_null(names_.find(one))})
        .field("module", ExactText{text_or_null(std::string{names_.module(one)})});
  }

  void write_service(JsonWriter& json, u32 number) const {
    const auto& one = services_.services()[number];
    json.begin_object();
    write_identity(json, number);
    json.field("calls", one.calls).field("open", one.open);
    write_sums(json, one);
    json.field("mean", figures_.mean(one))
        .field("shortest", figures_.least(one))
        .field("p50", figures_.percentile(one, 50))
        .field("p90", figures_.percentile(one, 90))
        .field("p99", figures_.percentile(one, 99))
        .field("longest", figures_.greatest(one))
        .key("histogram")
        .begin_array();
    for (const auto& step : one.times.steps())
      json.object("up_to", figures_.duration(static_cast<i64>(step.greatest)), "count", step.count);
    json.end_array().key("cycles_of_calls");
    write_cycles(json, one);
    json.end_object();
  }

  static void write_cycles(JsonWriter& json, const ServiceSums& one) {
    using Figures = ServiceFigures;
    if (one.measured == 0) {
      json.value(nullptr);
      return;
    }
    json.begin_object()
        .field("calls", one.measured)
        .field("mean", Figures::mean_cycles(one))
        .field("shortest", Figures::least_cycles(one))
        .field("p50", Figures::cycle_percentile(one, 50))
        .field("p90", Figures::cycle_percentile(one, 90))
        .field("p99", Figures::cycle_percentile(one, 99))
        .field("longest", Figures::greatest_cycles(one))
        .key("histogram")
        .begin_array();
    for (const auto& step : one.cycles_of_calls.steps())
      json.object("up_to", step.greatest, "count", step.count);
    json.end_array().end_object();
  }

  // Rows come by period; those of one are together.
  void write_periods(JsonWriter& json) const {
    std::optional<u64> open;
    json.begin_array();
    for (const auto& [key, row] : services_.totals().rows()) {
      if (!shown_[key.second] || period_.value_or(key.first) != key.first) continue;
      if (open != key.first) {
        if (open) json.end_array().end_object();
        open = key.first;
        const auto [from, to] = services_.totals().span_of(key.first);
        json.begin_object()
            .field("from", figures_.times().utc(from))
            .field("to", figures_.times().utc(to))
            .key("services")
            .begin_array();
      }
      json.begin_object()
          .field("service", key.second)
          .field("calls", row.calls)
          .field("begun_before", row.begun_before);
      write_sums(json, row);
      json.field("mean", figures_.mean(row)).end_object();
    }
    if (open) json.end_array().end_object();
    json.end_array();
  }

  const TraceInput& input_;
  const trace_analysis::Observation& observation_;
  const SymbolNames& symbols_;
  const Services& services_;
  const ServiceNames& names_;
  const ServiceFigures& figures_;
  const std::vector<u32>& chosen_;
  std::optional<u64> period_;  // the only one that is shown
  std::vector<bool> shown_;    // by number
  Output& output_;
};

// Clocks count a whole number of ticks in a second, and not in a millisecond.
i64 ticks_of(u32 milliseconds, const tracefile::Clock& clock) {
  constexpr u32 millisecond = 10'000, second = 10'000'000;
  i64 ticks = 0;
  if (__builtin_mul_overflow(clock.to_ticks(second), i64{milliseconds / 1000}, &ticks))
    ticks = std::numeric_limits<i64>::max();
  trace_analysis::add_ticks(ticks, clock.to_ticks(milliseconds % 1000 * millisecond));
  return std::max<i64>(1, ticks);
}

// What an option says of the time at which a period begins.
struct PeriodBegin {
  std::string_view option;
  std::string text;
  std::optional<i64> tick;  // nothing: the clock cannot show it
};

std::vector<PeriodBegin> moments_of(const TraceServicesOptions& options,
                                    const tracefile::Clock& clock) {
  std::vector<PeriodBegin> moments;
  const auto begins_at = [&](const std::string& text) {
    return clock.first_timestamp_at(*core::parse_file_time(text));
  };
  for (const auto& text : options.moments) moments.push_back({"--moment", text, begins_at(text)});
  if (const auto& text = options.compare_from; !text.empty())
    moments.push_back({"--compare-from", text, begins_at(text)});
  // As with --to, what has that very time is in it.
  if (const auto& text = options.compare_to; !text.empty()) {
    auto tick = clock.last_timestamp_at(*core::parse_file_time(text));
    if (tick) trace_analysis::add_ticks(*tick, 1);
    moments.push_back({"--compare-to", text, tick});
  }
  return moments;
}

std::optional<Periods> periods_of(const TraceServicesOptions& options,
                                  const tracefile::Clock& clock) {
  if (options.every > 0) return Periods::of_length(ticks_of(options.every, clock));
  const auto moments = moments_of(options, clock);
  if (moments.empty()) return std::nullopt;
  std::vector<i64> ticks;
  for (const auto& moment : moments)
    if (moment.tick) ticks.push_back(*moment.tick);
  return Periods::from_moments(std::move(ticks));
}

// Of those that --compare-from and --compare-to make.
std::optional<u64> shown_period(const TraceServicesOptions& options) {
  if (options.compare_from.empty() && options.compare_to.empty()) return std::nullopt;
  return options.compare_from.empty() ? u64{0} : u64{1};
}

// A moment that the trace does not reach cuts nothing off.
void note_moments(const TraceServicesOptions& options, AnalysisRun& run) {
  const auto& observed = run.observation().observed();
  if (!observed.first) return;  // which is told already
  core::NoMatch outside;
  for (const auto& [option, text, tick] : moments_of(options, run.input().trace.clock()))
    if (!tick || *tick <= *observed.first || *tick > *observed.last)
      outside.add_sentence(
          fmt::format("{}: {} is not between the first and the last event", option, text));
  outside.report(run.findings());
}

void note_choice(const Services& services, const EventPairs& pairs, AnalysisRun& run) {
  auto& findings = run.findings();
  const auto unmatched = pairs.unmatched();
  const bool has_events = run.observation().observed().events > 0;
  if (has_events) unmatched.report(findings);
  if (services.services().empty() && (!has_events || unmatched.empty()))
    run.note_no_match("the trace has no service calls and no interrupts",
                      {Need::calls, Need::interrupts});
  note_services(services, findings);
  note_periods(services, findings);
}

Exit run_trace_services(const TraceServicesOptions& options) {
  AnalysisRun run{options, TraceUse::lines};
  if (!run.opened()) return Exit::failure;
  const auto& trace = run.input().trace;
  if (!options.compare_from.empty() && !options.compare_to.empty() &&
      *core::parse_file_time(options.compare_from) > *core::parse_file_time(options.compare_to)) {
    run.report().failed(options.files.front(), "--compare-from is after --compare-to");
    return Exit::failure;
  }
  std::optional<SystemCallNames> calls;
  if (!options.syscall_map.empty()) {
    calls = read_trace_call_names(options.syscall_map, run.input(), run.report());
    if (!calls) return Exit::failure;
  }
  std::vector<EventPair> wanted;
  for (const auto& text : options.pairs) wanted.push_back(*trace_analysis::parse_event_pair(text));
  EventPairs pairs{std::move(wanted)};
  trace_analysis::CodeNames code{trace.names(), run.symbols()};
  const auto periods = periods_of(options, trace.clock());
  Services services{code, periods};
  run.observe({&services}, pairs.all().empty() ? nullptr : &pairs);
  note_choice(services, pairs, run);
  note_moments(options, run);
  const ServiceNames names{services, code, calls ? &*calls : nullptr, &pairs};
  const auto chosen =
      choose_services(services, names, options.choice, options.order, options, run.findings());
  const ServiceFigures figures{trace, run.observation().observed()};
  Output output{options.output};
  ServicesWriter writer{run.input(), run.observation(),     run.symbols(), services, names, figures,
                        chosen,      shown_period(options), output};
  if (options.format == "json") {
    writer.write_json(periods.has_value(), options.int64);
  } else if (options.format == "csv") {
    periods ? writer.write_periods_csv() : writer.write_csv();
  } else {
    ServiceText text{services, names, figures, options.order, output};
    text.write_table(chosen, options.top);
    if (periods) text.write_periods(chosen, shown_period(options), options.top);
    if (options.trees) text.write_trees(chosen, options.top, options.depth);
    run.symbols().write_text(output);
  }
  return run.finish(output);
}

void add_pair_option(Command& command, TraceServicesOptions& options) {
  command
      .add_option("--pair", options.pairs,
                  "Also a pair of events as a service that begins with one and ends with the "
                  "other: in the same thread, or with the same value of FIELD. Events as for "
                  "'trace decode --event', prefixed with PROVIDER! if the name is ambiguous")
      .repeatable()
      .check("ENTER=EXIT[@FIELD]", [](const std::string& text) {
        return trace_analysis::parse_event_pair(text)
                   ? std::string{}
                   : "'" + text + "' is not a pair of events; expected one like Start=Stop";
      });
}

void add_period_options(Command& command, TraceServicesOptions& options) {
  const auto moments =
      command
          .add_option("--moment", options.moments,
                      "Also what was called before, between and after these times (UTC)")
          .list("TIME")
          .check("", check_time);
  auto every = command.add_option(
      "--every", options.every,
      "Also what was called in each period of this length, from the first event on");
  every.in_range(1, 4'000'000'000).type_name("MILLISECONDS").excludes(moments);
  for (const auto& [name, time, what] :
       {std::tuple{"--compare-from", &options.compare_from,
                   "Compare the calls at this time (UTC) or later with all calls"},
        {"--compare-to", &options.compare_to,
         "Compare the calls at this time (UTC) or earlier with all calls"}})
    command.add_option(name, *time, what)
        .type_name("TIME")
        .check("", check_time)
        .excludes(moments)
        .excludes(every);
}

}  // namespace

void add_trace_services(CLI::App& app, Exit& exit) {
  add_command<TraceServicesOptions>(
      app, exit,
      {"services", "Count and time system calls, VxD services, DPCs and ISRs, by caller",
       "  coldtrace trace services run.etl\n"
       "  coldtrace trace services run.ctrace --syscall-map ntdll.dll --service 'NtOpen*' --trees\n"
       "  coldtrace trace services run.ctrace --profile file.profile --every 1000\n"
       "  coldtrace trace services run.etl --pair 'FileIo/Read=FileIo/OperationEnd@IrpPtr'\n"
       "  coldtrace trace services run.etl --format csv -o services.csv\n",
       "  0  the whole trace was read\n"
       "  1  events are missing, or the trace lacks what was asked for; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"text", "json", "csv"},
      [](Command& command, TraceServicesOptions& options) {
        add_analysis_options(command, options);
        add_symbol_options(command, options.symbols);
        command.add_input(
            "--syscall-map", options.syscall_map,
            "Name system calls of a .ctrace file from ntdll.dll or the JSON of 'syscalls map'");
        add_service_choice(command, options.choice);
        add_pair_option(command, options);
        add_period_options(command, options);
        add_sort_option(command, options.order,
                        "Sort services by inclusive time or by number of calls, most first",
                        {"text", "json", "csv"});
        command.add_option("--top", options.top, "In text: services to show")
            .for_formats({"text"})
            .capture_default_str();
        const auto trees = command
                               .add_flag("--trees", options.trees,
                                         "In text: the callers and callees of each, direct and "
                                         "indirect, and a histogram of how long its calls lasted")
                               .for_formats({"text"});
        command.add_option("--tree-depth", options.depth, "Depth of these trees")
            .needs(trees)
            .capture_default_str();
      },
      run_trace_services);
}

}  // namespace coldtrace::cli
