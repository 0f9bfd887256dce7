#pragma once

#include "cli/command/command.hpp"

namespace coldtrace::cli {

// "coldtrace servicing"
void add_servicing_command(CLI::App& app, Exit& exit);

}  // namespace coldtrace::cli
