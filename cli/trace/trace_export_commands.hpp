#pragma once

#include "cli/command/command.hpp"

namespace coldtrace::cli {

void add_trace_export(CLI::App& app, Exit& exit);
void add_trace_export_chrome(CLI::App& app, Exit& exit);
void add_trace_export_collapsed(CLI::App& app, Exit& exit);
void add_trace_export_ctf(CLI::App& app, Exit& exit);
void add_trace_export_ecs(CLI::App& app, Exit& exit);
void add_trace_export_firefox(CLI::App& app, Exit& exit);
void add_trace_export_perfetto(CLI::App& app, Exit& exit);
void add_trace_export_speedscope(CLI::App& app, Exit& exit);
void add_trace_export_sqlite(CLI::App& app, Exit& exit);
void add_trace_export_timesketch(CLI::App& app, Exit& exit);

}  // namespace coldtrace::cli
