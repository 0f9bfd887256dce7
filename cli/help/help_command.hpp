#pragma once

#include "cli/command/report.hpp"

namespace CLI {
class App;
}

namespace coldtrace::cli {

// "coldtrace help": the help of any command, its manual page, and completions for shells.
void add_help_command(CLI::App& app, Exit& exit);

// -h and --help of `app` and all commands below, which are added later.
void add_help_flags(CLI::App& app);

}  // namespace coldtrace::cli
