#include "cli/command/common_options.hpp"
#include "cli/trace/export/firefox_profile.hpp"
#include "cli/trace/trace_export_commands.hpp"
#include "coldtrace/trace_analysis/findings/answer_findings.hpp"
#include "coldtrace/trace_export/export_findings.hpp"

namespace coldtrace::cli {
namespace {

Exit run_trace_export_firefox(const ExportOptions& options) {
  ExportRun exporting{options};
  if (!exporting.opened()) return Exit::failure;
  auto& run = exporting.run();
  const auto& trace = run.input().trace;
  trace_analysis::CodeNames code{trace.names(), run.symbols()};
  ExportNames names{exporting, code};
  FirefoxProfile profile{names};
  trace_export::Timeline timeline{trace, exporting.options().times, code, profile};
  trace_export::SampledThreads samples{trace, code};
  names.use(timeline);
  profile.show_only([&](trace_analysis::Index thread) { return timeline.is_chosen(thread); });
  exporting.observe(timeline, {&samples});
  Output output{options.output};
  const StackLabels labels{names.population(), code,
                           TraceTimes{trace.clock(), run.observation().observed().first}};
  profile.write(output, trace, samples, code, labels);
  trace_export::note_begun_before(profile.begun_before(), run.findings());
  trace_export::note_left_out(samples, profile.left_out(), run.findings());
  trace_analysis::note_functions(code.left_out(), run.findings());
  return run.finish(output);
}

}  // namespace

void add_trace_export_firefox(CLI::App& app, Exit& exit) {
  add_command<ExportOptions>(
      app, exit,
      {"firefox",
       "Export samples with stacks, waits, calls and requests by thread, for profiler.firefox.com",
       "  coldtrace trace export firefox run.etl -o run.json\n"
       "  coldtrace trace export firefox run.etl --process 4711 --pdb symbols -o run.json\n"
       "  coldtrace trace export firefox run.ctrace --syscall-map ntdll.dll -o run.json\n",
       "  0  the whole trace was read\n"
       "  1  events are missing, or the trace lacks what was asked for; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"json"},
      [](Command& command, ExportOptions& options) {
        add_export_options(command, options);
        command.remove_option("--int64");
      },
      run_trace_export_firefox);
}

}  // namespace coldtrace::cli
