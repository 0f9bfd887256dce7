#pragma once

#include "cli/command/report.hpp"

namespace CLI {
class App;
}

namespace coldtrace::cli {

// "coldtrace help": the help and manual page of any command, and completions for shells.
void add_help_command(CLI::App& app, Exit& exit);

// -h and --help for `app` and all commands below it, which are added later.
void add_help_flags(CLI::App& app);

}  // namespace coldtrace::cli
