#include "cli/trace/trace_commands.hpp"

namespace coldtrace::cli {

void add_trace_graph(CLI::App& app, Exit& exit) {
  add_group(app, "graph", "Graphs from a trace",
            [&exit](CLI::App& group) { add_trace_graph_wait_for(group, exit); });
}

}  // namespace coldtrace::cli
