#include "cli/command/common_options.hpp"
#include "cli/trace/export/export_names.hpp"
#include "cli/trace/trace_export_commands.hpp"
#include "coldtrace/trace_export/export_findings.hpp"
#include "coldtrace/trace_export/perfetto_trace.hpp"

namespace coldtrace::cli {
namespace {

struct TraceExportPerfettoOptions : ExportOptions {
  trace_export::PerfettoTrace::Options perfetto;
};

Exit run_trace_export_perfetto(const TraceExportPerfettoOptions& options) {
  ExportRun exporting{options};
  if (!exporting.opened()) return Exit::failure;
  auto& run = exporting.run();
  Output output{options.output};
  trace_analysis::CodeNames code{run.input().trace.names(), run.symbols()};
  ExportNames names{exporting, code};
  trace_export::PerfettoTrace trace{
      names, [&output](std::string_view bytes) { output.write(bytes); }, options.perfetto};
  trace_export::Timeline timeline{run.input().trace, exporting.options().times, code, trace};
  names.use(timeline);
  exporting.observe(timeline);
  trace_export::note_left_out(trace, run.findings());
  return run.finish(output);
}

}  // namespace

void add_trace_export_perfetto(CLI::App& app, Exit& exit) {
  add_command<TraceExportPerfettoOptions>(
      app, exit,
      {"perfetto", "Export a timeline for ui.perfetto.dev and trace_processor",
       "  coldtrace trace export perfetto run.etl -o run.pftrace\n"
       "  coldtrace trace export perfetto run.etl --compress-packets -o run.pftrace\n"
       "  coldtrace trace export perfetto run.ctrace --syscall-map ntdll.dll -o run.pftrace\n",
       "  0  the whole trace was read\n"
       "  1  events are missing, or the trace lacks what was asked for; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"pftrace"},
      [](Command& command, TraceExportPerfettoOptions& options) {
        add_export_options(command, options);
        command.add_flag("--compress-packets", options.perfetto.compress,
                         "Compress packets within the trace with zlib, which Perfetto reads; -o "
                         "FILE.gz compresses the whole file");
      },
      run_trace_export_perfetto);
}

}  // namespace coldtrace::cli
