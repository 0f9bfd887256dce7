#pragma once

#include "cli/command/report.hpp"

namespace CLI {
class App;
}

namespace coldtrace::cli {

// "coldtrace help": the help and manual page of any command, and completions for shells.
void add_help_command(CLI::App& app, Exit& exit);

// Adds -h and --help to `app` and to all commands below it that are added later.
void add_help_flags(CLI::App& app);

}  // namespace coldtrace::cli
