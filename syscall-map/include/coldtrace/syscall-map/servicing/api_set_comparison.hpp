#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/pe/api_set_schema.hpp"

namespace coldtrace::syscall_map {

// An API set that was added or removed, or leads to other DLLs. Hosts are null if there is no set.
struct ApiSetChange {
  std::string name;  // as pe::ApiSet has it
  std::optional<std::vector<pe::ApiSetHost>> before, after;
};

// The API sets of two systems.
struct ApiSetComparison {
  std::optional<u32> version_before, version_after;  // of the schema; nothing if there is none
  u64 before = 0, after = 0;                         // sets
  // False if the two versions write names differently, so that sets cannot be paired.
  bool comparable = true;
  u64 added = 0, removed = 0, changed = 0;
  std::vector<ApiSetChange> changes;  // by name

  [[nodiscard]] bool same() const { return version_before == version_after && changes.empty(); }
};

// Null means an image without a schema.
[[nodiscard]] ApiSetComparison compare_api_sets(const pe::ApiSetSchema* before,
                                                const pe::ApiSetSchema* after);

}  // namespace coldtrace::syscall_map
