#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command/report.hpp"
#include "coldtrace/syscall-map/hook_table.hpp"

namespace coldtrace::cli {

// A build as a page shows it.
struct ShownBuild {
  syscall_map::HookTable table;
  bool is_map = false;  // system call numbers of one image: nothing tells the functions
};

// The builds of a JSON document of `hooks table` or `hooks show`, or the images of one of `syscalls
// map`: images, services and why there is no context switch. Nothing when the file cannot be read,
// has more than 64 MiB or is another document, which `report` says.
std::optional<std::vector<ShownBuild>> read_documented_builds(const std::string& path,
                                                              Report& report);

}  // namespace coldtrace::cli
