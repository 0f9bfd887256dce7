#pragma once

#include "cli/command/command.hpp"

namespace coldtrace::cli {

// Adds the group; its commands set `exit` when they are run.
void add_driver_commands(CLI::App& app, Exit& exit);
void add_driver_check(CLI::App& app, Exit& exit);

}  // namespace coldtrace::cli
