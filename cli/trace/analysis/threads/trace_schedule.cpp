#include <algorithm>

#include <fmt/format.h>

#include "cli/command/version.hpp"
#include "cli/layout/text_table.hpp"
#include "cli/output/exact_text.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/analysis/row_order.hpp"
#include "cli/trace/analysis/switch_findings.hpp"
#include "cli/trace/analysis/thread_names.hpp"
#include "cli/trace/trace_commands.hpp"
#include "coldtrace/trace_analysis/records/ticks.hpp"
#include "coldtrace/trace_analysis/scheduling/schedule.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::Before;
using trace_analysis::Index;
using trace_analysis::nobody;
using trace_analysis::ProcessorSchedule;
using trace_analysis::Schedule;
using trace_analysis::Standing;
using trace_analysis::ThreadSchedule;
using trace_analysis::Turn;

struct TraceScheduleOptions : AnalysisOptions {
  RowOrder order = RowOrder::time;
  u64 top = 20;  // threads in text
};

// Columns of WPA's table "CPU Usage (Precise)", under its names.
// Source: Microsoft, "CPU Analysis" (Windows Performance Toolkit).
constexpr std::string_view turn_columns =
    "New Process,New Process Id,New Thread Id,CPU,Switch-In Time (s),Last Switch-Out Time (s),"
    "Ready Time (s),Next Switch-Out Time (s),Waits (us),Ready (us),Time Since Last (us),"
    "CPU Usage (us),Count:Waits,New Prev State,New Prev Wait Reason,New Prev Out Pri,New In Pri,"
    "New Out Pri,Old Process,Old Process Id,Old Thread Id,Readying Process,Readying Process Id,"
    "Readying Thread Id,Readied In DPC\n";

std::string_view to_string(Standing::Where where) {
  using W = Standing::Where;
  switch (where) {
    case W::not_told:
      return "not_told";
    case W::created:
      return "created";
    case W::running:
      return "running";
    case W::waiting:
      return "waiting";
    case W::ready:
      return "ready";
    case W::off:
      return "off";
    case W::swapped:
      return "swapped";
    case W::ended:
      return "ended";
    case W::unknown:
      return "unknown";
  }
  return "unknown";
}

// One row for each turn, as it ends.
class TurnRows {
 public:
  TurnRows(const trace_analysis::Population& population, const tracefile::Clock& clock,
           const trace_analysis::Observed& observed, Output& output)
      : population_{population}, clock_{clock}, observed_{observed}, output_{output} {}

  void write(const Turn& turn) {
    row_.clear();
    add_thread(turn.thread);
    add(fmt::format("{}", turn.cpu));
    add(seconds(turn.begin));
    const bool absent = turn.left && turn.before != Before::created;
    add(absent ? seconds(*turn.left) : "");
    add(turn.readied ? seconds(*turn.readied) : "");
    add(turn.end ? seconds(*turn.end) : "");
    add_absence(turn);
    add(turn.end ? microseconds(turn.begin, *turn.end) : "");
    add(population_.threads()[turn.thread].idle_of ? "0" : "1");
    add(turn.left_state ? std::string{to_string(*turn.left_state)} : "");
    add(turn.wait_reason ? wait_reason_text(*turn.wait_reason) : "");
    add_priority(turn.left_priority);
    add_priority(turn.in_priority);
    add_priority(turn.out_priority);
    add_thread(turn.old_thread);
    add_thread(turn.waker);
    add(turn.readied ? turn.woken_in_dpc ? "1" : "0" : "");
    row_.back() = '\n';
    output_.write(row_);
  }

 private:
  void add(std::string_view cell) {
    row_ += csv_field(cell);
    row_ += ',';
  }

  void add_priority(std::optional<i8> priority) {
    add(priority ? fmt::format("{}", *priority) : "");
  }

  void add_thread(Index index) {
    if (index == nobody) return add(""), add(""), add("");
    const auto& thread = population_.threads()[index];
    if (thread.process == nobody) {
      add("");
      add("");
    } else {
      const auto& process = population_.processes()[thread.process];
      add(distinct_text(process.image_name));
      add(fmt::format("{}", process.pid));
    }
    add(fmt::format("{}", thread.tid));
  }

  void add_absence(const Turn& turn) {
    const bool known =
        turn.left && (turn.before == Before::waiting || turn.before == Before::ready);
    const bool waited = known && turn.before == Before::waiting;
    add(waited ? microseconds(*turn.left, *turn.readied) : known ? microseconds(0, 0) : "");
    if (known)
      add(microseconds(waited ? *turn.readied : *turn.left, turn.begin));
    else
      add(turn.readied ? microseconds(*turn.readied, turn.begin) : "");
    const bool whole = known || turn.before == Before::off || turn.before == Before::swapped;
    add(whole && turn.left ? microseconds(*turn.left, turn.begin) : "");
  }

  std::string seconds(i64 time) const {
    return TraceTimes{clock_, observed_.first}.since_start(time).substr(1);
  }
  std::string microseconds(i64 from, i64 to) const {
    const auto units = clock_.to_duration(trace_analysis::ticks_between(from, to));
    return fmt::format("{}.{}", units / 10, units % 10);
  }

  const trace_analysis::Population& population_;
  const tracefile::Clock& clock_;
  const trace_analysis::Observed& observed_;
  Output& output_;
  std::string row_;
};

class ScheduleWriter {
 public:
  ScheduleWriter(const TraceInput& input, const trace_analysis::Observation& observation,
                 SymbolNames& symbols, const Schedule& schedule, RowOrder order, Output& output)
      : input_{input},
        observation_{observation},
        schedule_{schedule},
        order_{order},
        output_{output},
        population_{observation.population()},
        names_{input.trace, observation.observed(), symbols} {}

  void write_json(Int64 int64) {
    JsonWriter json{output_, int64};
    json.begin_object().field("schema", "coldtrace.trace-schedule/1").field("tool", tool_version);
    write_observed(json, input_.trace, observation_.observed());
    json.field("elapsed", names_.duration(schedule_.elapsed()));
    const auto& counts = schedule_.turns().counts();
    json.key("counts")
        .begin_object()
        .field("switches", counts.switches)
        .field("repeated", counts.repeated)
        .field("readied", counts.readied)
        .field("superfluous", counts.superfluous)
        .field("broken", counts.broken)
        .field("overlapping", counts.overlapping)
        .end_object();
    json.key("processors").begin_array();
    for (const auto& [number, one] : schedule_.processors()) write_processor(json, number, one);
    json.end_array().key("threads").begin_array();
    for (const auto thread : threads()) write_thread(json, thread);
    json.end_array().key("findings");
    write_findings(json, input_.findings);
    json.end_object().end_document();
  }

  void write_text(u64 top) {
    const auto& counts = schedule_.turns().counts();
    print(output_,
          "Elapsed       {}\nSwitches      {}, {} broken, {} repeated, {} overlapping\n"
          "Readied       {}, {} superfluous\n\n",
          names_.times().text(schedule_.elapsed()), grouped(counts.switches),
          grouped(counts.broken), grouped(counts.repeated), grouped(counts.overlapping),
          grouped(counts.readied), grouped(counts.superfluous));
    print(output_, "{:>9} {:>14} {:>14} {:>14} {:>10} {:>7}\n", "processor", "busy", "idle",
          "unknown", "turns", "breaks");
    for (const auto& [number, one] : schedule_.processors())
      print(output_, "{:>9} {:>14} {:>14} {:>14} {:>10} {:>7}\n", number,
            names_.times().text(one.busy), names_.times().text(one.idle),
            names_.times().text(one.unknown), grouped(one.turns), grouped(one.breaks));
    auto threads = this->threads();
    std::erase_if(threads,
                  [this](Index i) { return population_.threads()[i].idle_of.has_value(); });
    output_.write("\n");
    TextTable table{output_,
                    {{"thread", 7},
                     {"running", 12},
                     {"ready", 12},
                     {"waiting", 12},
                     {"off", 12},
                     {"unknown", 12},
                     {"turns", 9},
                     {"ready p50", 13},
                     {"ready p90", 13},
                     {"ready p99", 13},
                     {"longest", 12}},
                    "process, longest waits, priorities, state at the end"};
    const auto shown = std::min<std::size_t>(threads.size(), top);
    for (std::size_t i = 0; i < shown; ++i) add_thread(table, threads[i]);
    table.finish();
    if (shown < threads.size())
      print(output_, "{}\n", counted(threads.size() - shown, "more thread", "more threads"));
  }

 private:
  // That a thread was created says nothing of it where the trace has no switches.
  std::vector<Index> threads() const {
    const auto& counts = schedule_.turns().counts();
    if (counts.switches + counts.readied == 0) return {};
    return most_first(
        schedule_.threads(), [](const ThreadSchedule& one) { return one.first.has_value(); },
        [this](const ThreadSchedule& one) {
          return order_ == RowOrder::count ? static_cast<i64>(one.turns) : one.running;
        });
  }

  void add_thread(TextTable& table, Index index) const {
    const auto& one = schedule_.threads()[index];
    const auto& thread = population_.threads()[index];
    const auto& latency = one.ready_latency;
    table.add(
        names_.process(thread.process) + details_text(index), thread.tid,
        names_.times().text(one.running), names_.times().text(one.ready),
        names_.times().text(one.waiting), names_.times().text(one.off),
        names_.times().text(one.unknown), grouped(one.turns), percentile_text(one, 50),
        percentile_text(one, 90), percentile_text(one, 99),
        latency.count() > 0 ? names_.times().text(static_cast<i64>(latency.greatest())) : "-");
  }

  // Longest waits, priorities, and where it stood at the end.
  std::string details_text(Index index) const {
    const auto& one = schedule_.threads()[index];
    std::string text;
    const auto to = std::back_inserter(text);
    auto waits = one.waits;
    std::stable_sort(waits.begin(), waits.end(),
                     [](const auto& a, const auto& b) { return a.time > b.time; });
    for (std::size_t i = 0; i < std::min<std::size_t>(waits.size(), 2); ++i)
      fmt::format_to(to, ", {} {}x {}", wait_reason_text(waits[i].reason), grouped(waits[i].count),
                     names_.times().text(waits[i].time));
    std::string priorities;
    for (unsigned i = 0; i < 32; ++i)
      if ((one.priorities >> i & 1U) != 0) priorities += fmt::format(" {}", i);
    if (!priorities.empty()) fmt::format_to(to, ", priority{}", priorities);
    if (one.created > 0) fmt::format_to(to, ", {} until ready", names_.times().text(one.created));
    if (one.swapped > 0) fmt::format_to(to, ", {} swapped out", names_.times().text(one.swapped));
    const auto standing = schedule_.turns().standing(index);
    fmt::format_to(to, ", at the end {}", to_string(standing.where));
    if (standing.wait_reason) fmt::format_to(to, " ({})", wait_reason_text(*standing.wait_reason));
    if (standing.since) fmt::format_to(to, " since {}", names_.since_start(*standing.since));
    return text;
  }

  std::string percentile_text(const ThreadSchedule& one, unsigned percent) const {
    const auto value = one.ready_latency.percentile(percent);
    return value ? names_.times().text(static_cast<i64>(*value)) : "-";
  }

  void write_processor(JsonWriter& json, u16 number, const ProcessorSchedule& one) const {
    json.begin_object()
        .field("cpu", number)
        .field("turns", one.turns)
        .field("busy", names_.duration(one.busy))
        .field("idle", names_.duration(one.idle))
        .field("unknown", names_.duration(one.unknown))
        .field("first_switch", names_.times().utc(one.first_switch))
        .field("last_switch", names_.times().utc(one.last_switch))
        .field("breaks", one.breaks)
        .end_object();
  }

  void write_thread(JsonWriter& json, Index index) const {
    const auto& one = schedule_.threads()[index];
    const auto& thread = population_.threads()[index];
    std::optional<u32> pid;
    std::optional<std::string> process;
    if (thread.process != nobody) {
      pid = population_.processes()[thread.process].pid;
      process = text_or_null(population_.processes()[thread.process].image_name);
    }
    json.begin_object()
        .field("tid", thread.tid)
        .field("pid", pid)
        .field("process", ExactText{process})
        .field("start", names_.times().utc(thread.life.start))
        .field("idle_cpu", thread.idle_of)
        .field("turns", one.turns)
        .field("running", names_.duration(one.running))
        .field("ready", names_.duration(one.ready))
        .field("waiting", names_.duration(one.waiting))
        .field("off", names_.duration(one.off))
        .field("swapped", names_.duration(one.swapped))
        .field("created", names_.duration(one.created))
        .field("unknown", names_.duration(one.unknown));
    write_waits(json, one);
    write_latency(json, one);
    json.key("priorities").begin_array();
    for (unsigned i = 0; i < 32; ++i)
      if ((one.priorities >> i & 1U) != 0) json.value(i);
    json.end_array().key("at_end");
    const auto standing = schedule_.turns().standing(index);
    json.begin_object()
        .field("state", to_string(standing.where))
        .field("since", names_.times().utc(standing.since))
        .field("wait_reason", reason_or_null(standing.wait_reason))
        .end_object()
        .end_object();
  }

  static std::optional<std::string> reason_or_null(std::optional<u8> reason) {
    if (!reason) return std::nullopt;
    return wait_reason_text(*reason);
  }

  void write_waits(JsonWriter& json, const ThreadSchedule& one) const {
    json.key("waits").begin_array();
    for (const auto& wait : one.waits)
      json.begin_object()
          .field("reason", wait_reason_text(wait.reason))
          .field("count", wait.count)
          .field("duration", names_.duration(wait.time))
          .field("longest", names_.duration(wait.longest))
          .end_object();
    json.end_array();
  }

  void write_latency(JsonWriter& json, const ThreadSchedule& one) const {
    const auto& latency = one.ready_latency;
    const auto at = [&](unsigned percent) -> std::optional<i64> {
      const auto value = latency.percentile(percent);
      if (!value) return std::nullopt;
      return names_.duration(static_cast<i64>(*value));
    };
    std::optional<i64> longest;
    if (latency.count() > 0) longest = names_.duration(static_cast<i64>(latency.greatest()));
    json.key("ready_latency")
        .begin_object()
        .field("count", latency.count())
        .field("p50", at(50))
        .field("p90", at(90))
        .field("p99", at(99))
        .field("longest", longest)
        .end_object();
  }

  const TraceInput& input_;
  const trace_analysis::Observation& observation_;
  const Schedule& schedule_;
  RowOrder order_;
  Output& output_;
  const trace_analysis::Population& population_;
  ThreadNames names_;
};

Exit run_trace_schedule(const TraceScheduleOptions& options) {
  AnalysisRun run{options, TraceUse::lines};
  if (!run.opened()) return Exit::failure;
  const auto& observation = run.observation();
  Output output{options.output};
  TurnRows rows{observation.population(), run.input().trace.clock(), observation.observed(),
                output};
  const bool csv = options.format == "csv";
  if (csv) output.write(turn_columns);
  Schedule schedule{csv ? trace_analysis::Turns::Sink{[&](const Turn& turn) { rows.write(turn); }}
                        : nullptr};
  run.observe({&schedule});
  note_switches(schedule.turns().counts(), run);
  ScheduleWriter writer{run.input(), observation, run.symbols(), schedule, options.order, output};
  if (options.format == "json") writer.write_json(options.int64);
  if (options.format == "text") writer.write_text(options.top);
  return run.finish(output);
}

}  // namespace

void add_trace_schedule(CLI::App& app, Exit& exit) {
  add_command<TraceScheduleOptions>(
      app, exit,
      {"schedule", "Show which threads ran, were ready and waited, and for how long",
       "  coldtrace trace schedule run.etl\n"
       "  coldtrace trace schedule run.etl --format csv -o turns.csv\n"
       "  coldtrace trace schedule run.ctrace --format json\n",
       "  0  the whole trace was read\n"
       "  1  events are missing, or the trace has no context switches; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"text", "json", "csv"},
      [](Command& command, TraceScheduleOptions& options) {
        add_analysis_options(command, options);
        add_sort_option(
            command, options.order,
            "Sort threads by running time or by number of turns on processors, most first",
            {"text", "json"});
        command.add_option("--top", options.top, "In text: threads to show")
            .for_formats({"text"})
            .capture_default_str();
      },
      run_trace_schedule);
}

}  // namespace coldtrace::cli
