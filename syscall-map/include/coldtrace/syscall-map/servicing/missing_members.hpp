#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::syscall_map {

// The members that a list requires and a build does not show, in the order of its table. Where
// neither of two builds shows one, no row of their comparison tells it.
[[nodiscard]] std::vector<std::string> list_missing_members(const HookTable& table);

// What kernels of both systems lack, for one finding: of several with one code the first text alone
// would be seen.
class MissingMembers {
 public:
  // Of a kernel of the "old" or "new" system. One that lacks none is not told.
  void add(std::string_view system, std::string_view kernel, std::span<const std::string> names);
  // `member-missing`, where there are any.
  void report(core::Findings& findings) const;

 private:
  std::vector<std::string> kernels_;  // what is said of each
};

}  // namespace coldtrace::syscall_map
