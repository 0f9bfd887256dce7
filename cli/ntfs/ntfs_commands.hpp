#pragma once

#include "cli/command/command.hpp"

namespace coldtrace::cli {

void add_ntfs_snapshot(CLI::App& app, Exit& exit);
void add_ntfs_info(CLI::App& app, Exit& exit);
void add_ntfs_journal(CLI::App& app, Exit& exit);
void add_ntfs_logfile(CLI::App& app, Exit& exit);
void add_ntfs_locate(CLI::App& app, Exit& exit);
void add_ntfs_compare(CLI::App& app, Exit& exit);
void add_ntfs_query(CLI::App& app, Exit& exit);
void add_ntfs_history(CLI::App& app, Exit& exit);

}  // namespace coldtrace::cli
