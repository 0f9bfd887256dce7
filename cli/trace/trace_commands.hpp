#pragma once

#include "cli/command/command.hpp"

namespace coldtrace::cli {

void add_trace_check(CLI::App& app, Exit& exit);
void add_trace_compare(CLI::App& app, Exit& exit);
void add_trace_decode(CLI::App& app, Exit& exit);
void add_trace_info(CLI::App& app, Exit& exit);
void add_trace_control(CLI::App& app, Exit& exit);
void add_trace_critical_path(CLI::App& app, Exit& exit);
void add_trace_cpu(CLI::App& app, Exit& exit);
void add_trace_deadlocks(CLI::App& app, Exit& exit);
void add_trace_graph(CLI::App& app, Exit& exit);
void add_trace_graph_wait_for(CLI::App& app, Exit& exit);
void add_trace_idle(CLI::App& app, Exit& exit);
void add_trace_io(CLI::App& app, Exit& exit);
void add_trace_pack(CLI::App& app, Exit& exit);
void add_trace_packets(CLI::App& app, Exit& exit);
void add_trace_priority(CLI::App& app, Exit& exit);
void add_trace_schedule(CLI::App& app, Exit& exit);
void add_trace_schema(CLI::App& app, Exit& exit);
void add_trace_schemas(CLI::App& app, Exit& exit);
void add_trace_schemas_build(CLI::App& app, Exit& exit);
void add_trace_schemas_check(CLI::App& app, Exit& exit);
void add_trace_schemas_list(CLI::App& app, Exit& exit);
void add_trace_schemas_show(CLI::App& app, Exit& exit);
void add_trace_services(CLI::App& app, Exit& exit);
void add_trace_symbols(CLI::App& app, Exit& exit);
void add_trace_synthesize(CLI::App& app, Exit& exit);
void add_trace_top(CLI::App& app, Exit& exit);
void add_trace_tree(CLI::App& app, Exit& exit);
void add_trace_unpack(CLI::App& app, Exit& exit);

}  // namespace coldtrace::cli
