#pragma once

#include <functional>
#include <string>

#include "cli/command/report.hpp"

namespace CLI {
class App;
}

namespace coldtrace::cli {

// A group of commands: "coldtrace pe", "coldtrace syscalls". `define` adds them once the group is
// named on the command line.
void add_group(CLI::App& parent, const std::string& name, const std::string& summary,
               std::function<void(CLI::App&)> define);

// Each adds commands that, when given, run and set `exit`.
void add_pe_commands(CLI::App& app, Exit& exit);
void add_syscalls_commands(CLI::App& app, Exit& exit);
void add_trace_commands(CLI::App& app, Exit& exit);
void add_ntfs_commands(CLI::App& app, Exit& exit);
void add_hooks_commands(CLI::App& app, Exit& exit);
void add_findings_command(CLI::App& app, Exit& exit);

}  // namespace coldtrace::cli
