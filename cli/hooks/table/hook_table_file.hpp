#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/command/report.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::cli {

// The builds of a binary table. A failure is added to `report`, saying what the file is instead.
std::optional<std::vector<syscall_map::HookTable>> read_hook_table_file(const std::string& path,
                                                                        Report& report);

// The same for a file that has been read and unpacked.
std::optional<std::vector<syscall_map::HookTable>> decode_hook_table_file(
    const std::string& path, const std::vector<std::byte>& bytes, Report& report);

// The builds of all files, each kernel once: the first file that has it counts, with a finding if
// others differ.
std::vector<syscall_map::HookTable> read_hook_table_files(const std::vector<std::string>& paths,
                                                          Report& report);

}  // namespace coldtrace::cli
