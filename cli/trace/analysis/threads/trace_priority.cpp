#include <fmt/format.h>

#include "cli/output/exact_text.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/analysis/row_order.hpp"
#include "cli/trace/analysis/switch_findings.hpp"
#include "cli/trace/analysis/threads/priority_tables.hpp"
#include "cli/trace/trace_commands.hpp"
#include "coldtrace/trace_analysis/findings/answer_findings.hpp"
#include "coldtrace/trace_analysis/processes/chosen_threads.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::Index;
using trace_analysis::Inversions;
using trace_analysis::nobody;
using trace_analysis::Priorities;
using trace_analysis::PriorityStep;

struct TracePriorityOptions : AnalysisOptions {
  std::vector<std::string> processes;
  std::optional<u32> thread;

  tracefile::EventSelection chosen() const {
    tracefile::EventSelection selection;
    selection.processes = processes;
    if (thread) selection.tids = {*thread};
    return selection;
  }
  std::optional<RowOrder> order;
  u64 top = 20;  // threads in text
};

constexpr std::string_view step_columns =
    "time,process,pid,tid,start,before,now,base,cause,increment,by_pid,by_tid,shown_by,shown_at,"
    "before_at,buffer,offset\n";

// One row for each change.
class StepRows {
 public:
  StepRows(const trace_analysis::Population& population, const tracefile::Clock& clock,
           const trace_analysis::Observed& observed, Output& output)
      : population_{population}, clock_{clock}, observed_{observed}, output_{output} {}

  void write(const PriorityStep& step) {
    const TraceTimes times{clock_, observed_.first};
    const auto& thread = population_.threads()[step.thread];
    row_.clear();
    add(seconds(times, step.time()));
    add(thread.process == nobody
            ? ""
            : distinct_text(population_.processes()[thread.process].image_name));
    add(pid_of(population_, step.thread));
    add(thread.tid);
    add(thread.life.start ? seconds(times, *thread.life.start) : "");
    add(step.before);
    add(step.now);
    add(step.base);
    add(to_string(step.cause));
    add(step.increment);
    add(step.by == nobody ? std::nullopt : pid_of(population_, step.by));
    add(step.by == nobody ? std::optional<u32>{} : population_.threads()[step.by].tid);
    add(to_string(step.shown_by));
    add(seconds(times, step.shown.time));
    add(seconds(times, step.before_at));
    add(step.shown.place.buffer);
    add(step.shown.place.offset);
    row_.back() = '\n';
    output_.write(row_);
  }

 private:
  static std::string seconds(const TraceTimes& times, i64 time) {
    const auto text = times.since_start(time);
    return text.front() == '+' ? text.substr(1) : text;
  }

  void add(std::string_view cell) {
    row_ += csv_field(cell);
    row_ += ',';
  }
  template <class Number>
  requires std::is_integral_v<Number>
  void add(Number number) { add(fmt::format("{}", number)); }
  template <class Number>
  void add(std::optional<Number> number) {
    if (number)
      add(*number);
    else
      add(std::string_view{});
  }

  const trace_analysis::Population& population_;
  const tracefile::Clock& clock_;
  const trace_analysis::Observed& observed_;
  Output& output_;
  std::string row_;
};

void note(const Priorities& priorities, const Inversions& inversions, AnalysisRun& run) {
  const auto& counts = priorities.turns().counts();
  note_switches(counts, run);
  if (counts.switches > 0 && !any_priority(priorities))
    run.note_no_match("no event of the trace shows a priority");
  note_priorities(priorities, inversions, run.findings());
}

Exit run_trace_priority(const TracePriorityOptions& options) {
  AnalysisRun run{options, TraceUse::lines};
  if (!run.opened()) return Exit::failure;
  const auto& observed = run.observation().observed();
  Output output{options.output};
  const auto chosen = options.chosen();
  const trace_analysis::ChosenThreads threads{chosen};
  const auto has = [&](Index thread) { return threads.has(observed.population, thread); };
  StepRows rows{observed.population, run.input().trace.clock(), observed, output};
  const bool csv = options.format == "csv";
  if (csv) output.write(step_columns);
  Priorities priorities{csv ? Priorities::Sink{[&](const PriorityStep& step) {
    if (has(step.thread)) rows.write(step);
  }}
                            : nullptr};
  Inversions inversions;
  run.observe({&priorities, &inversions});
  note(priorities, inversions, run);
  note_chosen_priorities(priorities, observed.population, chosen, run.findings());
  const PriorityTables tables{run.input(), observed, run.symbols(), priorities,
                              inversions,  has,      output};
  if (options.format == "json") tables.write_json(options.int64, options.order);
  if (options.format == "text")
    tables.write_text(options.top, options.thread.has_value(), options.order);
  return run.finish(output);
}

}  // namespace

void add_trace_priority(CLI::App& app, Exit& exit) {
  add_command<TracePriorityOptions>(
      app, exit,
      {"priority", "Show priorities of threads over time, what raised them, and inversions",
       "  coldtrace trace priority run.etl\n"
       "  coldtrace trace priority run.ctrace --process 'inv*' --format json\n"
       "  coldtrace trace priority run.etl --thread 4711 --format csv -o steps.csv\n",
       "  0  the whole trace was read, whether it has inversions or not\n"
       "  1  events are missing, or the trace shows no priorities; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"text", "json", "csv"},
      [](Command& command, TracePriorityOptions& options) {
        add_analysis_options(command, options);
        add_process_option(command, options.processes);
        command
            .add_option("--thread", options.thread,
                        "Only this thread, by id; text then lists each change")
            .type_name("TID");
        add_sort_option(command, options.order,
                        "Sort threads by time in which threads of lower priority ran while they "
                        "were ready, or by number of changes, most first; without it, text is "
                        "sorted by changes, and JSON by the numbers of threads",
                        {"text", "json"});
        command.add_option("--top", options.top, "In text: threads to show")
            .for_formats({"text"})
            .capture_default_str();
      },
      run_trace_priority);
}

}  // namespace coldtrace::cli
