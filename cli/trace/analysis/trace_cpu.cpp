#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "cli/command/version.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/analysis/collapsed_stacks.hpp"
#include "cli/trace/analysis/switch_findings.hpp"
#include "cli/trace/analysis/thread_names.hpp"
#include "cli/trace/trace_commands.hpp"
#include "coldtrace/trace_analysis/processor_use.hpp"
#include "coldtrace/trace_analysis/waiting_stacks.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::CodeNames;
using trace_analysis::Index;
using trace_analysis::nobody;
using trace_analysis::ProcessorShare;
using trace_analysis::ProcessorUse;
using trace_analysis::RoutineUse;
using trace_analysis::SampledUse;
using trace_analysis::SampleSum;
using trace_analysis::Service;
using trace_analysis::ThreadUse;

struct Options : AnalysisOptions {
  std::string stacks = "running";
  std::string process;
  u64 top = 15;  // rows of each table in text
};

// One table for all: the first column says whose row it is.
constexpr std::string_view csv_columns =
    "of,process,pid,tid,start,processor,module,function,kind,samples,sampled,sampled_dpc,"
    "sampled_isr,turns,running,interrupted,difference,runs,inclusive,exclusive\n";

// What the DPCs and ISRs of one driver cost.
struct DriverUse {
  u32 module;
  u64 dpcs = 0, isrs = 0;
  i64 in_dpc = 0, in_isr = 0;  // ticks, each without what interrupted it
};

std::vector<DriverUse> drivers_of(const std::vector<RoutineUse>& routines) {
  std::map<u32, DriverUse> drivers;
  for (const auto& one : routines) {
    auto& driver = drivers.try_emplace(one.code.module, DriverUse{one.code.module}).first->second;
    const bool is_isr = one.routine.kind == Service::Kind::isr;
    (is_isr ? driver.isrs : driver.dpcs) += one.runs;
    (is_isr ? driver.in_isr : driver.in_dpc) += one.exclusive;
  }
  std::vector<DriverUse> all;
  for (const auto& [module, driver] : drivers) all.push_back(driver);
  std::stable_sort(all.begin(), all.end(), [](const DriverUse& a, const DriverUse& b) {
    return a.in_dpc + a.in_isr > b.in_dpc + b.in_isr;
  });
  return all;
}

// Numbers of the elements that `has` something, those with most `of` it first.
template <class T, class Has, class Of>
std::vector<u32> ranked(const std::vector<T>& all, Has has, Of of) {
  std::vector<u32> order;
  for (u32 i = 0; i < all.size(); ++i)
    if (has(all[i])) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](u32 a, u32 b) { return of(all[a]) > of(all[b]); });
  return order;
}

bool is_used(const ThreadUse& use) {
  return use.sampled.all.samples > 0 || use.turns > 0;
}

std::string_view file_of(std::string_view path) {
  return path.substr(path.rfind('\\') + 1);
}

template <class T>
std::optional<T> unless(bool absent, const T& value) {
  if (absent) return std::nullopt;
  return value;
}

class CpuWriter {
 public:
  CpuWriter(const TraceInput& input, const trace_analysis::Observation& observation,
            const ProcessorUse& use, const CodeNames& code, Output& output)
      : input_{input},
        observation_{observation},
        use_{use},
        code_{code},
        output_{output},
        population_{observation.population()},
        times_{input.trace.clock(), observation.observed().first} {}

  void write_json(Int64 int64) {
    JsonWriter json{output_, int64};
    json.begin_object().field("schema", "coldtrace.trace-cpu/1").field("tool", tool_version);
    write_observed(json, input_.trace, observation_.observed());
    json.field("elapsed", times_.duration(use_.schedule().elapsed()));
    write_sampling(json);
    const auto& switches = use_.schedule().turns().counts();
    json.key("switches").object("count", switches.switches, "broken", switches.broken);
    json.key("processors").begin_array();
    for (u32 i = 0; i < processors(); ++i) write_processor(json, i);
    json.end_array().key("processes").begin_array();
    for (const auto i : processes()) write_process(json, i);
    json.end_array().key("unknown_process").begin_object();
    write_use(json, use_.unknown_process());
    json.end_object().key("threads").begin_array();
    for (const auto i : threads()) write_thread(json, i);
    json.end_array().key("modules").begin_array();
    for (const auto i : modules()) {
      json.begin_object().field("module", module_or_null(i));
      write_sampled(json, use_.modules()[i]);
      json.end_object();
    }
    json.end_array().key("functions").begin_array();
    for (const auto i : functions()) {
      const auto& function = code_.functions()[i];
      json.begin_object()
          .field("function", function.name)
          .field("module", module_or_null(function.module));
      write_sampled(json, use_.functions()[i]);
      json.end_object();
    }
    json.end_array().key("drivers").begin_array();
    for (const auto& one : drivers_of(use_.routines()))
      json.object("module", module_or_null(one.module), "dpcs", one.dpcs, "dpc_time",
                  times_.duration(one.in_dpc), "isrs", one.isrs, "isr_time",
                  times_.duration(one.in_isr));
    json.end_array().key("routines").begin_array();
    for (const auto i : routines()) write_routine(json, use_.routines()[i]);
    json.end_array().key("findings");
    write_findings(json, input_.findings);
    json.end_object().end_document();
  }

  void write_csv() {
    output_.write(csv_columns);
    for (u32 i = 0; i < processors(); ++i) {
      Row row{"processor"};
      row.processor = fmt::format("{}", i);
      row.sampled = sampled_of_processor(i).sampled;
      row.running = running_of_processor(i);
      write_row(row);
    }
    for (const auto i : processes()) write_row(row_of("process", use_.processes()[i], i, nobody));
    if (is_used(use_.unknown_process()))
      write_row(row_of("process", use_.unknown_process(), nobody, nobody));
    for (const auto i : threads())
      write_row(row_of("thread", use_.threads()[i], population_.threads()[i].process, i));
    for (const auto i : modules()) {
      Row row{"module"};
      row.module = code_.modules()[i];
      row.sampled = use_.modules()[i];
      write_row(row);
    }
    for (const auto i : functions()) {
      Row row{"function"};
      row.module = code_.modules()[code_.functions()[i].module];
      row.function = code_.functions()[i].name;
      row.sampled = use_.functions()[i];
      write_row(row);
    }
    for (const auto i : routines()) {
      const auto& one = use_.routines()[i];
      Row row{"routine"};
      row.module = code_.modules()[one.code.module];
      row.function = code_.functions()[one.code.function].name;
      row.routine = &one;
      write_row(row);
    }
  }

  void write_text(u64 top) {
    write_summary();
    write_processors();
    write_threads("process", processes(), top, [this](u32 i) {
      print(output_, "{}  {}\n", use_text(use_.processes()[i]), process_text(population_, i));
    });
    if (is_used(use_.unknown_process()))
      print(output_, "{}  unknown\n", use_text(use_.unknown_process()));
    write_threads("thread, process", threads(), top, [this](u32 i) {
      const auto& thread = population_.threads()[i];
      print(
          output_, "{}  {}  {}\n", use_text(use_.threads()[i]),
          thread.idle_of ? fmt::format("idle {}", *thread.idle_of) : fmt::format("{}", thread.tid),
          process_text(population_, thread.process));
    });
    write_sampled_table("module", modules(), top, [this](u32 i) {
      return std::pair{&use_.modules()[i], module_text(i)};
    });
    write_sampled_table("function", functions(), top, [this](u32 i) {
      return std::pair{&use_.functions()[i], printable(code_.functions()[i].name)};
    });
    write_drivers(top);
  }

 private:
  struct Row {
    std::string_view of;
    std::string process, pid, tid, start, processor;
    std::string_view module, function;
    std::optional<SampledUse> sampled;
    std::optional<u64> turns;
    std::optional<i64> running, interrupted, difference;
    const RoutineUse* routine = nullptr;
  };

  // Which rows there are, and in which order.
  u32 processors() const {
    return static_cast<u32>(
        std::max(use_.processors().size(), use_.schedule().processors().size()));
  }
  std::vector<u32> processes() const { return by_time(use_.processes()); }
  std::vector<u32> threads() const { return by_time(use_.threads()); }
  std::vector<u32> by_time(const std::vector<ThreadUse>& all) const {
    return ranked(all, is_used, [this](const ThreadUse& use) {
      return use_.has_switches() ? use.running : use.sampled.all.time;
    });
  }
  std::vector<u32> modules() const { return by_samples(use_.modules()); }
  std::vector<u32> functions() const { return by_samples(use_.functions()); }
  static std::vector<u32> by_samples(const std::vector<SampledUse>& all) {
    return ranked(
        all, [](const SampledUse& use) { return use.all.samples > 0; },
        [](const SampledUse& use) {
          return std::pair{use.all.time, use.all.samples};
        });
  }
  std::vector<u32> routines() const {
    return ranked(
        use_.routines(), [](const RoutineUse&) { return true; },
        [](const RoutineUse& use) { return use.exclusive; });
  }

  ProcessorShare sampled_of_processor(u32 number) const {
    return number < use_.processors().size() ? use_.processors()[number] : ProcessorShare{};
  }
  std::optional<i64> running_of_processor(u32 number) const {
    if (!use_.has_switches()) return std::nullopt;
    const auto& all = use_.schedule().processors();
    return number < all.size() ? all[number].busy : 0;
  }

  void write_sampling(JsonWriter& json) const {
    json.key("sampling").begin_object();
    json.field("interval", use_.interval());
    write_sampled(json, use_.total());
    json.field("low_power", use_.counts().low_power)
        .field("threadless", use_.counts().threadless)
        .field("unweighted", use_.total().all.firsts)
        .end_object();
  }

  void write_processor(JsonWriter& json, u32 number) const {
    const auto share = sampled_of_processor(number);
    json.begin_object().field("processor", number);
    write_sampled(json, share.sampled);
    json.field("sampled_idle", times_.duration(share.sampled_idle.time));
    trace_analysis::ProcessorSchedule schedule;
    if (number < use_.schedule().processors().size())
      schedule = use_.schedule().processors()[number];
    const bool absent = !use_.has_switches();
    json.field("busy", unless(absent, times_.duration(schedule.busy)))
        .field("idle", unless(absent, times_.duration(schedule.idle)))
        .field("unknown", unless(absent, times_.duration(schedule.unknown)))
        .field("dpc_time", unless(!use_.has_interrupts(), times_.duration(share.in_dpc)))
        .field("isr_time", unless(!use_.has_interrupts(), times_.duration(share.in_isr)))
        .end_object();
  }

  void write_sampled(JsonWriter& json, const SampledUse& use) const {
    json.field("samples", use.all.samples)
        .field("sampled", times_.duration(use.all.time))
        .field("sampled_dpc", times_.duration(use.in_dpc.time))
        .field("sampled_isr", times_.duration(use.in_isr.time));
  }

  void write_use(JsonWriter& json, const ThreadUse& use) const {
    write_sampled(json, use.sampled);
    const bool absent = !use_.has_switches();
    json.field("turns", unless(absent, use.turns))
        .field("running", unless(absent, times_.duration(use.running)))
        .field("interrupted",
               unless(absent || !use_.has_interrupts(), times_.duration(use.interrupted)))
        .field("difference", difference(use));
  }

  void write_process(JsonWriter& json, Index index) const {
    const auto& process = population_.processes()[index];
    json.begin_object()
        .field("pid", process.pid)
        .field("process", name_or_null(index))
        .field("start", times_.utc(process.life.start));
    write_use(json, use_.processes()[index]);
    json.end_object();
  }

  void write_thread(JsonWriter& json, Index index) const {
    const auto& thread = population_.threads()[index];
    json.begin_object()
        .field("tid", thread.tid)
        .field("pid", pid_of(population_, index))
        .field("process", name_or_null(thread.process))
        .field("start", times_.utc(thread.life.start))
        .field("idle_processor", thread.idle_of);
    write_use(json, use_.threads()[index]);
    json.end_object();
  }

  void write_routine(JsonWriter& json, const RoutineUse& one) const {
    json.begin_object()
        .field("kind", to_string(one.routine.kind))
        .field("address", one.routine.number)
        .field("function", code_.functions()[one.code.function].name)
        .field("module", module_or_null(one.code.module))
        .field("runs", one.runs)
        .field("untimed", one.untimed)
        .field("inclusive", times_.duration(one.inclusive))
        .field("exclusive", times_.duration(one.exclusive))
        .end_object();
  }

  Row row_of(std::string_view of, const ThreadUse& use, Index process, Index thread) const {
    Row row{of};
    std::optional<i64> start;
    if (process != nobody) {
      row.process = population_.processes()[process].image_name;
      row.pid = fmt::format("{}", population_.processes()[process].pid);
      start = population_.processes()[process].life.start;
    }
    if (thread != nobody) {
      row.tid = fmt::format("{}", population_.threads()[thread].tid);
      start = population_.threads()[thread].life.start;
      if (const auto idle = population_.threads()[thread].idle_of)
        row.processor = fmt::format("{}", *idle);
    }
    row.start = times_.utc(start).value_or("");
    row.sampled = use.sampled;
    if (!use_.has_switches()) return row;
    row.turns = use.turns;
    row.running = use.running;
    if (use_.has_interrupts()) row.interrupted = use.interrupted;
    row.difference = use_.difference(use);
    return row;
  }

  void write_row(const Row& row) {
    line_.clear();
    for (const auto text : {row.of, std::string_view{row.process}, std::string_view{row.pid},
                            std::string_view{row.tid}, std::string_view{row.start},
                            std::string_view{row.processor}, row.module, row.function})
      line_ += csv_field(text) + ',';
    line_ +=
        row.routine == nullptr ? "," : fmt::format("{},", to_string(row.routine->routine.kind));
    if (row.sampled && use_.has_samples())
      line_ += fmt::format(
          "{},{},{},{},", row.sampled->all.samples, times_.duration(row.sampled->all.time),
          times_.duration(row.sampled->in_dpc.time), times_.duration(row.sampled->in_isr.time));
    else
      line_ += ",,,,";
    line_ += row.turns ? fmt::format("{},", *row.turns) : ",";
    for (const auto ticks : {row.running, row.interrupted, row.difference})
      line_ += ticks ? fmt::format("{},", times_.duration(*ticks)) : ",";
    if (row.routine != nullptr)
      line_ += fmt::format("{},{},{}\n", row.routine->runs, times_.duration(row.routine->inclusive),
                           times_.duration(row.routine->exclusive));
    else
      line_ += ",,\n";
    output_.write(line_);
  }

  void write_summary() {
    const auto& total = use_.total();
    print(output_, "Elapsed       {}\n", times_.seconds(use_.schedule().elapsed()));
    if (use_.has_samples()) {
      const auto interval = use_.interval();
      print(output_, "Samples       {}, {}; {} in DPCs, {} in ISRs, {} of unknown threads\n",
            total.all.samples,
            interval ? fmt::format("each {} s", seconds_text(*interval)) : "at unknown intervals",
            total.in_dpc.samples, total.in_isr.samples, use_.counts().threadless);
    }
    if (use_.has_switches()) {
      const auto& counts = use_.schedule().turns().counts();
      print(output_, "Switches      {}, {} broken\n", counts.switches, counts.broken);
    }
  }

  void write_processors() {
    if (processors() == 0) return;
    print(output_, "\n{:>14} {:>14} {:>14} {:>14} {:>14} {:>12} {:>12}  processor\n", "running",
          "idle", "unknown", "sampled", "sampled idle", "DPC", "ISR");
    for (u32 i = 0; i < processors(); ++i) {
      const auto share = sampled_of_processor(i);
      trace_analysis::ProcessorSchedule one;
      if (i < use_.schedule().processors().size()) one = use_.schedule().processors()[i];
      print(output_, "{:>14} {:>14} {:>14} {:>14} {:>14} {:>12} {:>12}  {}\n", switched(one.busy),
            switched(one.idle), switched(one.unknown), sampled(share.sampled.all.time),
            sampled(share.sampled_idle.time), times_.seconds(share.in_dpc),
            times_.seconds(share.in_isr), i);
    }
  }

  template <class WriteLine>
  void write_threads(std::string_view title, const std::vector<u32>& all, u64 top,
                     WriteLine write_line) {
    if (all.empty()) return;
    print(output_, "\n{:>14} {:>12} {:>14} {:>8} {:>14}  {}\n", "running", "interrupted", "sampled",
          "samples", "difference", title);
    write_rows(all, top, write_line);
  }

  template <class Find>
  void write_sampled_table(std::string_view title, const std::vector<u32>& all, u64 top,
                           Find find) {
    if (all.empty()) return;
    print(output_, "\n{:>14} {:>8} {:>12} {:>12}  {}\n", "sampled", "samples", "in DPCs", "in ISRs",
          title);
    write_rows(all, top, [&](u32 i) {
      const auto [use, name] = find(i);
      print(output_, "{:>14} {:>8} {:>12} {:>12}  {}\n", times_.seconds(use->all.time),
            use->all.samples, times_.seconds(use->in_dpc.time), times_.seconds(use->in_isr.time),
            name);
    });
  }

  void write_drivers(u64 top) {
    const auto all = drivers_of(use_.routines());
    if (all.empty()) return;
    print(output_, "\n{:>12} {:>8} {:>12} {:>8}  driver\n", "DPC", "DPCs", "ISR", "ISRs");
    write_rows(all, top, [this](const DriverUse& one) {
      print(output_, "{:>12} {:>8} {:>12} {:>8}  {}\n", times_.seconds(one.in_dpc), one.dpcs,
            times_.seconds(one.in_isr), one.isrs, module_text(one.module));
    });
  }

  template <class T, class WriteLine>
  void write_rows(const std::vector<T>& all, u64 top, WriteLine write_line) {
    const auto shown = std::min<std::size_t>(all.size(), top);
    for (std::size_t i = 0; i < shown; ++i) write_line(all[i]);
    if (shown < all.size()) print(output_, "{} more\n", all.size() - shown);
  }

  std::string use_text(const ThreadUse& use) const {
    const auto more = difference(use);
    return fmt::format("{:>14} {:>12} {:>14} {:>8} {:>14}", switched(use.running),
                       use_.has_switches() ? interrupting(use.interrupted) : "-",
                       sampled(use.sampled.all.time),
                       use_.has_samples() ? fmt::format("{}", use.sampled.all.samples) : "-",
                       !more ? "-" : (*more < 0 ? "-" : "+") + seconds_text(std::abs(*more)));
  }

  std::string switched(i64 ticks) const {
    return use_.has_switches() ? times_.seconds(ticks) : "-";
  }
  std::string interrupting(i64 ticks) const {
    return use_.has_interrupts() ? times_.seconds(ticks) : "-";
  }
  std::string sampled(i64 ticks) const { return use_.has_samples() ? times_.seconds(ticks) : "-"; }

  std::optional<i64> difference(const ThreadUse& use) const {
    const auto ticks = use_.difference(use);
    if (!ticks) return std::nullopt;
    return times_.duration(*ticks);
  }

  std::optional<std::string_view> name_or_null(Index process) const {
    if (process == nobody || population_.processes()[process].image_name.empty())
      return std::nullopt;
    return population_.processes()[process].image_name;
  }

  std::optional<std::string_view> module_or_null(u32 module) const {
    if (module == CodeNames::no_module) return std::nullopt;
    return code_.modules()[module];
  }
  std::string module_text(u32 module) const {
    return module == CodeNames::no_module ? "unknown" : printable(file_of(code_.modules()[module]));
  }

  const TraceInput& input_;
  const trace_analysis::Observation& observation_;
  const ProcessorUse& use_;
  const CodeNames& code_;
  Output& output_;
  const trace_analysis::Population& population_;
  TraceTimes times_;
  std::string line_;
};

void note_left_out(u64 count, core::Findings& findings) {
  if (count > 0)
    findings.warning("function-limit", std::nullopt,
                     "{} addresses of samples, interrupts and stacks are in functions beyond those "
                     "that are kept, and are counted as others",
                     count);
}

void note_use(const ProcessorUse& use, const CodeNames& code, core::Findings& findings) {
  if (!use.has_samples() && !use.has_switches() && !use.has_interrupts())
    findings.warning("no-match", std::nullopt,
                     "the trace has no samples, no context switches and no interrupts (PROFILE, "
                     "CSWITCH, DPC and INTERRUPT of the kernel's flags)");
  note_switch_chain(use.schedule().turns().counts(), findings);
  if (const auto firsts = use.total().all.firsts; firsts > 0)
    findings.info("sample-interval", std::nullopt,
                  "{} samples are the first of their processor, and no event says how long the "
                  "interval between samples is: they have no time",
                  firsts);
  note_left_out(code.left_out() + use.counts().left_out_routines, findings);
}

void note_stacks(const trace_analysis::CallTree& tree, const trace_analysis::StackJoin& stacks,
                 u64 unwritten, core::Findings& findings) {
  if (const auto cut = tree.cut() + stacks.cut() + unwritten; cut > 0)
    findings.warning("stacks-cut", std::nullopt,
                     "{} stacks are longer or more than are kept; their time is with the part that "
                     "is, or in [other]",
                     cut);
}

// Paths of calls instead of tables.
Exit run_collapsed(const Options& options) {
  AnalysisRun run{options, TraceUse::lines};
  if (!run.opened()) return Exit::failure;
  Output output{options.output};
  const auto& trace = run.input().trace;
  const trace_analysis::ImageOffsets names{trace.names()};
  CodeNames code{trace.names(), names};
  trace_analysis::RunningStacks running{trace.clock(), code};
  trace_analysis::WaitingStacks waiting{code};
  const bool is_running = options.stacks == "running";
  if (is_running)
    run.observe({&running});
  else
    run.observe({&waiting});
  const auto& tree = is_running ? running.tree() : waiting.tree();
  if (tree.nodes().size() == 1)
    run.findings().warning("no-match", std::nullopt, "the trace has no {} (of the kernel's flags)",
                           is_running ? "samples: PROFILE" : "context switches: CSWITCH");
  if (!is_running) note_switch_chain(waiting.turns().counts(), run.findings());
  const auto& population = run.observation().population();
  CollapsedContext context{
      population, code, trace.clock(), {}, run.observation().observed().events};
  if (!options.process.empty())
    context.processes = find_processes(population, options.process, run.findings());
  const auto unwritten = write_collapsed(output, tree, context);
  note_stacks(tree, is_running ? running.stacks() : waiting.stacks(), unwritten, run.findings());
  note_left_out(code.left_out(), run.findings());
  return run.finish(output);
}

Exit run(const Options& options) {
  if (options.format == "collapsed") return run_collapsed(options);
  AnalysisRun run{options, TraceUse::lines};
  if (!run.opened()) return Exit::failure;
  Output output{options.output};
  const auto& trace = run.input().trace;
  const trace_analysis::ImageOffsets names{trace.names()};
  CodeNames code{trace.names(), names};
  ProcessorUse use{trace.clock(), code};
  run.observe({&use});
  note_use(use, code, run.findings());
  CpuWriter writer{run.input(), run.observation(), use, code, output};
  if (options.format == "json")
    writer.write_json(options.int64);
  else if (options.format == "csv")
    writer.write_csv();
  else
    writer.write_text(options.top);
  return run.finish(output);
}

}  // namespace

void add_trace_cpu(CLI::App& app, Exit& exit) {
  add_command<Options>(
      app, exit,
      {"cpu", "What used the processors: by samples, by context switches, DPCs and ISRs",
       "  coldtrace trace cpu run.etl\n"
       "  coldtrace trace cpu run.etl --format csv -o cpu.csv\n"
       "  coldtrace trace cpu run.ctrace --format json\n"
       "  coldtrace trace cpu run.etl --format collapsed | flamegraph.pl > cpu.svg\n"
       "  coldtrace trace cpu run.etl --format collapsed --stacks waiting -o waits.txt\n",
       "  0  the whole trace was read\n"
       "  1  events are missing, or the trace tells nothing of processors; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"text", "json", "csv", "collapsed"},
      [](Command& command, Options& options) {
        add_analysis_options(command, options);
        command.add_option("--top", options.top, "In text: rows of each table")
            .capture_default_str();
        command
            .add_option("--stacks", options.stacks,
                        "Collapsed: of samples, or of threads off the processor by what kept them")
            .one_of({"running", "waiting"});
        command.add_option("--process", options.process,
                           "Collapsed: only of this process: an id, a name or a glob");
      },
      run);
}

}  // namespace coldtrace::cli
