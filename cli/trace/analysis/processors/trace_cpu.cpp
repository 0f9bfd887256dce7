#include "cli/trace/analysis/processors/cpu_tables.hpp"
#include "cli/trace/analysis/processors/stack_run.hpp"
#include "cli/trace/trace_commands.hpp"
#include "coldtrace/trace_analysis/findings/answer_findings.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::CodeNames;
using trace_analysis::ProcessorUse;

struct TraceCpuOptions : AnalysisOptions {
  std::string stacks = "running";
  std::vector<std::string> processes;
  RowOrder order = RowOrder::time;
  u64 top = 15;  // rows of each table in text
};

Exit run_trace_cpu(const TraceCpuOptions& options) {
  if (options.format == "collapsed") {
    StackOptions stacks;
    static_cast<AnalysisOptions&>(stacks) = options;
    stacks.stacks = options.stacks;
    stacks.processes = options.processes;
    return run_collapsed(stacks);
  }
  if (!options.processes.empty()) throw Failure{"--process is for --format collapsed"};
  if (options.stacks != "running") throw Failure{"--of is for --format collapsed"};
  AnalysisRun run{options, TraceUse::lines};
  if (!run.opened()) return Exit::failure;
  Output output{options.output};
  const auto& trace = run.input().trace;
  CodeNames code{trace.names(), run.symbols()};
  ProcessorUse use{trace.clock(), trace.names().sampling_intervals(), code};
  run.observe({&use});
  if (!use.has_samples() && !use.has_switches() && !use.has_interrupts())
    run.note_no_match("the trace has no samples, no context switches and no interrupts",
                      {Need::samples, Need::switches, Need::interrupts});
  note_processor_use(use, code, run.findings());
  const auto& observation = run.observation();
  const CpuTables tables{run.input(),
                         observation.observed(),
                         observation.population(),
                         run.symbols(),
                         use,
                         code,
                         TraceTimes{trace.clock(), observation.observed().first},
                         options.order};
  if (options.format == "json")
    write_cpu_json(output, tables, options.int64);
  else if (options.format == "csv")
    write_cpu_csv(output, tables);
  else
    write_cpu_text(output, tables, options.top);
  return run.finish(output);
}

}  // namespace

void add_trace_cpu(CLI::App& app, Exit& exit) {
  add_command<TraceCpuOptions>(
      app, exit,
      {"cpu", "Show what used the processors, by samples, context switches, DPCs and ISRs",
       "  coldtrace trace cpu run.etl\n"
       "  coldtrace trace cpu run.etl --format csv -o cpu.csv\n"
       "  coldtrace trace cpu run.ctrace --format json\n"
       "  coldtrace trace cpu run.etl --format collapsed | flamegraph.pl > cpu.svg\n"
       "  coldtrace trace cpu run.etl --format collapsed --of waiting -o waits.txt\n",
       "  0  the whole trace was read\n"
       "  1  events are missing, or the trace shows no use of processors; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"text", "json", "csv", "collapsed"},
      [](Command& command, TraceCpuOptions& options) {
        add_analysis_options(command, options);
        add_symbol_options(command, options.symbols);
        add_sort_option(command, options.order,
                        "Sort rows by time, or by number of samples, DPCs and ISRs, most first",
                        {"text", "json", "csv"});
        command.add_option("--top", options.top, "In text: rows to show per table")
            .for_formats({"text"})
            .capture_default_str();
        command
            .add_option(
                "--of", options.stacks,
                "In collapsed: stacks of samples, or of threads off the processor with the reason")
            .one_of({"running", "waiting"});
        add_process_option(command, options.processes);
      },
      run_trace_cpu);
}

}  // namespace coldtrace::cli
