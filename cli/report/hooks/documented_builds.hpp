#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/command/report.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::cli {

// A build as a page shows it.
struct ShownBuild {
  syscall_map::HookTable table;
  bool is_map = false;  // system call numbers of one image, whose functions are not known
};

// The builds in a JSON document of `hooks table` or `hooks show`, or the images in one of `syscalls
// map`, with these bytes: images, services and why there is no context switch. Nothing, and a
// report, if it is another document, differs from what these commands write or has more than 64
// MiB.
std::optional<std::vector<ShownBuild>> read_documented_builds(const std::string& path,
                                                              const std::vector<std::byte>& bytes,
                                                              Report& report);

}  // namespace coldtrace::cli
