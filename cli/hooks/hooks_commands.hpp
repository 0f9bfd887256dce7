#pragma once

#include "cli/command/command.hpp"

namespace coldtrace::cli {

void add_hooks_context_switch(CLI::App& app, Exit& exit);
void add_hooks_derive(CLI::App& app, Exit& exit);
void add_hooks_export(CLI::App& app, Exit& exit);
void add_hooks_iat(CLI::App& app, Exit& exit);
void add_hooks_locate(CLI::App& app, Exit& exit);
void add_hooks_merge(CLI::App& app, Exit& exit);
void add_hooks_plan(CLI::App& app, Exit& exit);
void add_hooks_profile(CLI::App& app, Exit& exit);
void add_hooks_show(CLI::App& app, Exit& exit);
void add_hooks_table(CLI::App& app, Exit& exit);
void add_hooks_tables(CLI::App& app, Exit& exit);
void add_hooks_verify(CLI::App& app, Exit& exit);

}  // namespace coldtrace::cli
