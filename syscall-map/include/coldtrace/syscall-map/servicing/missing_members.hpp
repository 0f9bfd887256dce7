#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::syscall_map {

// The members that a list requires and a build does not show, in the order of its table. If neither
// of two builds shows one, no row of their comparison reports it.
[[nodiscard]] std::vector<std::string> list_missing_members(const HookTable& table);

// The missing members of all kernels of both systems, for a single finding: of several findings
// with one code, only the first text would be shown.
class MissingMembers {
 public:
  // For a kernel of the "old" or "new" system. One that lacks none is not listed.
  void add(std::string_view system, std::string_view kernel, std::span<const std::string> names);
  // `member-missing`, if there are any.
  void report(core::Findings& findings) const;

 private:
  std::vector<std::string> kernels_;  // a text for each
};

}  // namespace coldtrace::syscall_map
