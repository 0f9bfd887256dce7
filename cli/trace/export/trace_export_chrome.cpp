#include "cli/command/common_options.hpp"
#include "cli/trace/export/chrome_events.hpp"
#include "cli/trace/trace_export_commands.hpp"
#include "coldtrace/trace_export/export_findings.hpp"

namespace coldtrace::cli {
namespace {

Exit run_trace_export_chrome(const ExportOptions& options) {
  ExportRun exporting{options};
  if (!exporting.opened()) return Exit::failure;
  auto& run = exporting.run();
  Output output{options.output};
  trace_analysis::CodeNames code{run.input().trace.names(), run.symbols()};
  ExportNames names{exporting, code};
  ChromeEvents events{output, names};
  trace_export::Timeline timeline{run.input().trace, exporting.options().times, code, events};
  names.use(timeline);
  events.begin();
  exporting.observe(timeline);
  events.end();
  trace_export::note_begun_before(events.left_out(), run.findings());
  return run.finish(output);
}

}  // namespace

void add_trace_export_chrome(CLI::App& app, Exit& exit) {
  add_command<ExportOptions>(
      app, exit,
      {"chrome", "Export a timeline as Chrome's trace event JSON, for small traces",
       "  coldtrace trace export chrome run.etl -o run.json\n"
       "  coldtrace trace export chrome run.ctrace --syscall-map ntdll.dll --process 4711 -o "
       "run.json\n"
       "  coldtrace trace export chrome run.etl --where 'name == \"DiskIo/Read\"' -o reads.json\n",
       "  0  the whole trace was read\n"
       "  1  events are missing, or the trace lacks what was asked for; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"json"},
      [](Command& command, ExportOptions& options) {
        add_export_options(command, options);
        command.remove_option("--int64");
      },
      run_trace_export_chrome);
}

}  // namespace coldtrace::cli
