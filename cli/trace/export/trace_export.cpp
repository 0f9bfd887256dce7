#include "cli/trace/trace_export_commands.hpp"

namespace coldtrace::cli {

void add_trace_export(CLI::App& app, Exit& exit) {
  add_group(app, "export", "Export traces in the formats of other tools", [&exit](CLI::App& group) {
    add_trace_export_chrome(group, exit);
    add_trace_export_collapsed(group, exit);
    add_trace_export_ctf(group, exit);
    add_trace_export_ecs(group, exit);
    add_trace_export_firefox(group, exit);
    add_trace_export_perfetto(group, exit);
    add_trace_export_speedscope(group, exit);
    add_trace_export_sqlite(group, exit);
    add_trace_export_timesketch(group, exit);
  });
}

}  // namespace coldtrace::cli
