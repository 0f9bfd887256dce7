#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/command/report.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::cli {

// The builds of a binary table. On failure says so in `report`, naming what the file is instead.
std::optional<std::vector<syscall_map::HookTable>> read_hook_table_file(const std::string& path,
                                                                        Report& report);

// The same of a file that was read already, and unpacked.
std::optional<std::vector<syscall_map::HookTable>> decode_hook_table_file(
    const std::string& path, const std::vector<std::byte>& bytes, Report& report);

// The builds of all files, each kernel once: the first file that has it counts, which is said where
// others say something else.
std::vector<syscall_map::HookTable> read_hook_table_files(const std::vector<std::string>& paths,
                                                          Report& report);

}  // namespace coldtrace::cli
