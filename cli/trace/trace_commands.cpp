#include "cli/trace/trace_commands.hpp"

#include "cli/trace/trace_export_commands.hpp"

namespace coldtrace::cli {

void add_trace_commands(CLI::App& app, Exit& exit) {
  add_group(app, "trace", "Event traces: Windows .etl files, and coldtrace's own .ctrace files",
            [&exit](CLI::App& group) {
              add_trace_decode(group, exit);
              add_trace_info(group, exit);
              add_trace_check(group, exit);
              add_trace_compare(group, exit);
              add_trace_control(group, exit);
              add_trace_cpu(group, exit);
              add_trace_critical_path(group, exit);
              add_trace_deadlocks(group, exit);
              add_trace_export(group, exit);
              add_trace_graph(group, exit);
              add_trace_idle(group, exit);
              add_trace_io(group, exit);
              add_trace_pack(group, exit);
              add_trace_packets(group, exit);
              add_trace_priority(group, exit);
              add_trace_schedule(group, exit);
              add_trace_schema(group, exit);
              add_trace_schemas(group, exit);
              add_trace_services(group, exit);
              add_trace_symbols(group, exit);
              add_trace_synthesize(group, exit);
              add_trace_top(group, exit);
              add_trace_tree(group, exit);
              add_trace_unpack(group, exit);
            });
}

}  // namespace coldtrace::cli
