#pragma once

#include "cli/command/command.hpp"

namespace coldtrace::cli {

// "coldtrace report"
void add_report_command(CLI::App& app, Exit& exit);

}  // namespace coldtrace::cli
