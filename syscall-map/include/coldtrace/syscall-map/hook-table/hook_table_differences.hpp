#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::syscall_map {

// A value of a hook table that two tables of one build do not share.
struct HookTableDifference {
  std::string path;  // "services[0x000f NtClose].target"
  std::optional<std::string> before;
  std::optional<std::string> after;
};

// What of a build is compared. Sentences of evidence and the images' hashes are not values: they
// may be absent, or say the same in other words.
[[nodiscard]] std::vector<HookTableDifference> compare_hook_tables(const HookTable& before,
                                                                   const HookTable& after);

// The same with evidence and hashes: nothing when both are the same but for paths and findings.
[[nodiscard]] std::vector<HookTableDifference> compare_all(const HookTable& before,
                                                           const HookTable& after);

}  // namespace coldtrace::syscall_map
