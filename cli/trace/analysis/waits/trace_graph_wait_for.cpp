#include <vector>

#include "cli/trace/analysis/row_order.hpp"
#include "cli/trace/analysis/waits/wait_graph_answer.hpp"
#include "cli/trace/analysis/waits/wait_graph_drawing.hpp"
#include "cli/trace/trace_commands.hpp"
#include "coldtrace/trace_analysis/findings/answer_findings.hpp"
#include "coldtrace/trace_analysis/findings/wait_findings.hpp"
#include "coldtrace/trace_analysis/processes/process_choice.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::FileWaits;
using trace_analysis::Index;
using trace_analysis::LockOwners;
using trace_analysis::RequestWaits;
using trace_analysis::StatedWaits;
using trace_analysis::WaitEvidence;
using trace_analysis::WaitGraph;
using trace_analysis::WaitGraphView;
using trace_analysis::WaitKinds;

struct TraceGraphWaitForOptions : AnalysisOptions {
  std::vector<std::string> processes;
  RowOrder order = RowOrder::time;
  u64 nodes = 500;
};

void write(Output& output, const WaitGraphAnswer& answer, const TraceGraphWaitForOptions& options) {
  const WaitGraphLabels labels{answer};
  if (options.format == "json")
    write_wait_graph_json(output, options.int64, answer);
  else if (options.format == "text")
    write_wait_graph_text(output, answer);
  else if (options.format == "dot")
    write_dot(output, answer.view, labels);
  else
    write_svg(output, answer.view, labels);
}

Exit run_trace_graph_wait_for(const TraceGraphWaitForOptions& options) {
  AnalysisRun run{options, TraceUse::lines};
  if (!run.opened()) return Exit::failure;
  const auto& trace = run.input().trace;
  const trace_analysis::CounterTicks counter{trace};
  trace_analysis::CodeNames code{trace.names(), run.symbols()};
  WaitGraph graph;
  StatedWaits stated;
  LockOwners locks;
  RequestWaits requests{counter};
  FileWaits files{counter, trace.names()};
  WaitKinds kinds{counter, code};
  std::vector<trace_analysis::Analysis*> analyses{&graph, &stated, &locks, &requests, &files};
  // Without symbols no function is known.
  if (run.symbols().any()) analyses.push_back(&kinds);
  run.observe(analyses, nullptr, nullptr);
  const WaitEvidence evidence{graph, stated, locks, requests, files, kinds};
  note_wait_graph(evidence, run.findings());
  if (!any_wait(evidence))
    run.note_no_match("no event of the trace shows waits", {Need::switches, Need::readied});
  trace_analysis::note_functions(code.left_out(), run.findings());
  const auto& population = run.observation().population();
  std::optional<std::vector<Index>> processes;
  if (!options.processes.empty())
    processes = trace_analysis::find_processes(population, options.processes, run.findings());
  const WaitGraphView view{evidence, population, processes, options.nodes, options.order};
  const auto& observed = run.observation().observed();
  const WaitNames names{trace, observed, run.symbols(), graph.objects()};
  Output output{options.output};
  write(output, {run.input(), observed, run.symbols(), evidence, code, view, names}, options);
  return run.finish(output);
}

}  // namespace

void add_trace_graph_wait_for(CLI::App& app, Exit& exit) {
  add_command<TraceGraphWaitForOptions>(
      app, exit,
      {"wait-for", "Show which threads waited for which objects, and who owned them",
       "  coldtrace trace graph wait-for run.ctrace\n"
       "  coldtrace trace graph wait-for run.ctrace --process 'prod*' --format svg -o waits.svg\n"
       "  coldtrace trace graph wait-for run.etl --format json\n",
       "  0  the whole trace was read\n"
       "  1  the trace has damage or loss, or shows no wait; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"text", "json", "dot", "svg"},
      [](Command& command, TraceGraphWaitForOptions& options) {
        add_analysis_options(command, options);
        add_symbol_options(command, options.symbols);
        add_process_option(command, options.processes);
        add_sort_option(command, options.order,
                        "Sort by time, after waits that have not ended, or by number of waits, "
                        "most first; in drawings, the first ones are shown",
                        {"text", "json", "dot", "svg"});
        command.add_option("--nodes", options.nodes, "In drawings: nodes to show")
            .for_formats({"dot", "svg"})
            .capture_default_str();
      },
      run_trace_graph_wait_for);
}

}  // namespace coldtrace::cli
