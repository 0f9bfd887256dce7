#pragma once

#include "cli/command.hpp"

namespace coldtrace::cli {

void add_hooks_context_switch(CLI::App& app, Exit& exit);
void add_hooks_locate(CLI::App& app, Exit& exit);
void add_hooks_tables(CLI::App& app, Exit& exit);

}  // namespace coldtrace::cli
