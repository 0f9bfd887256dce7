#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::syscall_map {

// A value that differs between two tables of one build.
struct HookTableDifference {
  std::string path;  // "services[0x000f NtClose].target"
  std::optional<std::string> before;
  std::optional<std::string> after;
};

// The compared values of a build. Sentences of evidence and the images' hashes are not values: they
// may be absent, or worded differently.
[[nodiscard]] std::vector<HookTableDifference> compare_hook_tables(const HookTable& before,
                                                                   const HookTable& after);

// The same with evidence and hashes: empty if both are equal except for paths and findings.
[[nodiscard]] std::vector<HookTableDifference> compare_all(const HookTable& before,
                                                           const HookTable& after);

}  // namespace coldtrace::syscall_map
