#pragma once

#include <functional>
#include <string>

#include "cli/json.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"

namespace CLI {
class App;
}

namespace coldtrace::cli {

class Command;  // cli/options.hpp, for those who define options

// Options that every command has. A command's own options derive from them.
struct CommonOptions {
  OutputOptions output;
  std::string format;
  Int64 int64 = Int64::number;
  FindingPolicy findings;
};

// Throws Failure where the options contradict each other, or the output would do harm to one of
// the `inputs` (cli/output_guard.hpp).
void check_common_options(const CommonOptions& options, const std::vector<std::string>& inputs);

// A group of commands: "coldtrace pe", "coldtrace syscalls". `define` adds them, once the group is
// named on the command line.
void add_group(CLI::App& parent, const std::string& name, const std::string& summary,
               std::function<void(CLI::App&)> define);

// Each adds one command and, when that was given, runs it and sets `exit`.
void add_pe_commands(CLI::App& app, Exit& exit);
void add_syscalls_commands(CLI::App& app, Exit& exit);
void add_trace_commands(CLI::App& app, Exit& exit);
void add_ntfs_commands(CLI::App& app, Exit& exit);
void add_hooks_commands(CLI::App& app, Exit& exit);
void add_findings_command(CLI::App& app, Exit& exit);

}  // namespace coldtrace::cli
