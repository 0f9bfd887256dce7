#pragma once

#include "cli/command/command.hpp"

namespace coldtrace::cli {

// Adds the group and, if one of its commands was given, runs it and sets `exit`.
void add_driver_commands(CLI::App& app, Exit& exit);
void add_driver_check(CLI::App& app, Exit& exit);

}  // namespace coldtrace::cli
