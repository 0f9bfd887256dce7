#include "cli/command/common_options.hpp"
#include "cli/trace/export/stack_options.hpp"
#include "cli/trace/trace_export_commands.hpp"

namespace coldtrace::cli {

void add_trace_export_collapsed(CLI::App& app, Exit& exit) {
  add_command<StackOptions>(
      app, exit,
      {"collapsed",
       "Export stacks with their totals, one per line, for flamegraph.pl and similar tools",
       "  coldtrace trace export collapsed run.etl | flamegraph.pl > cpu.svg\n"
       "  coldtrace trace export collapsed run.etl --of waiting -o waits.txt\n"
       "  coldtrace trace export collapsed run.etl --of events --event FileIo/Read --weight "
       "IoSize\n",
       "  0  the whole trace was read\n"
       "  1  events are missing, or the trace lacks what was asked for; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"text"}, add_stack_options, run_collapsed);
}

}  // namespace coldtrace::cli
