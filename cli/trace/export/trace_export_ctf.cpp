#include "cli/command/common_options.hpp"
#include "cli/output/output_folder.hpp"
#include "cli/sandbox/sandbox.hpp"
#include "cli/trace/export/export_names.hpp"
#include "cli/trace/trace_export_commands.hpp"
#include "coldtrace/trace_export/ctf_trace.hpp"
#include "coldtrace/trace_export/export_findings.hpp"

namespace coldtrace::cli {
namespace {

Exit run_trace_export_ctf(const ExportOptions& options) {
  OutputFolder output{options.output};
  enter_run(options, {.inputs = options.named_inputs, .output_folder = output.place()});
  ExportRun exporting{options};
  if (!exporting.opened()) return Exit::failure;
  auto& run = exporting.run();
  trace_analysis::CodeNames code{run.input().trace.names(), run.symbols()};
  ExportNames names{exporting, code};
  trace_export::CtfTrace trace{names, [&output](std::string_view file, std::string_view bytes) {
                                 output.append(file, bytes);
                               }};
  trace_export::Timeline timeline{run.input().trace, exporting.options().times, code, trace};
  names.use(timeline);
  exporting.observe(timeline);
  trace_export::note_left_out(trace, run.findings());
  return run.finish(output);
}

}  // namespace

void add_trace_export_ctf(CLI::App& app, Exit& exit) {
  add_command<ExportOptions>(
      app, exit,
      {"ctf",
       "Export processors, threads and interrupts for Trace Compass and babeltrace2 (CTF 1.8)",
       "  coldtrace trace export ctf run.etl -o run.ctf\n"
       "  coldtrace trace export ctf run.etl --process 4711 -o one.ctf && babeltrace2 one.ctf\n",
       "  0  the whole trace was read\n"
       "  1  events are missing, or the trace lacks what was asked for; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"ctf"},
      [](Command& command, ExportOptions& options) {
        add_export_options(command, options);
        command.before_sandbox([](SandboxNeeds& needs) { needs.later = true; });
      },
      run_trace_export_ctf);
}

}  // namespace coldtrace::cli
