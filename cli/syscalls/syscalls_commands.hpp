#pragma once

#include "cli/command/command.hpp"

namespace coldtrace::cli {

void add_syscalls_map(CLI::App& app, Exit& exit);
void add_syscalls_compare(CLI::App& app, Exit& exit);
void add_syscalls_check(CLI::App& app, Exit& exit);
void add_syscalls_hash(CLI::App& app, Exit& exit);

}  // namespace coldtrace::cli
