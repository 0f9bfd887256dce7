#pragma once

#include <string>
#include <vector>

#include "cli/command/common_options.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::cli {

// The options of all `hooks export` commands.
struct HookExportOptions : CommonOptions {
  std::vector<std::string> tables;
};

void add_hook_export_options(Command& command, HookExportOptions& options);

inline constexpr const char* hook_export_exit_status =
    "  0  the output is complete\n"
    "  1  a build or a value is left out: the findings say which; or a table is unreadable\n"
    "  2  usage, nothing is left, no table could be read, or the output cannot be written\n";

// The builds of all tables; none: no table could be read, and `report` says so.
std::vector<syscall_map::HookTable> read_hook_export_tables(const HookExportOptions& options,
                                                            Report& report);

// Throws Failure if nothing of the tables can be written.
void require_export_rows(bool any, const core::Findings& findings);

void add_hooks_export_c_header(CLI::App& app, Exit& exit);
void add_hooks_export_edrsandblast(CLI::App& app, Exit& exit);
void add_hooks_export_isf(CLI::App& app, Exit& exit);
void add_hooks_export_j00ru(CLI::App& app, Exit& exit);
void add_hooks_export_kphdyn(CLI::App& app, Exit& exit);

}  // namespace coldtrace::cli
