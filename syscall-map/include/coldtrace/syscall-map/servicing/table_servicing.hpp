#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/syscall-map/hook-table/build_pairing.hpp"
#include "coldtrace/syscall-map/member_list.hpp"
#include "coldtrace/syscall-map/servicing/module_pairing.hpp"
#include "coldtrace/syscall-map/servicing/row_comparison.hpp"

namespace coldtrace::syscall_map {

// Rows, and their number for each state.
struct RowChanges {
  std::vector<RowChange> rows;
  std::array<u64, row_states> counts{};

  [[nodiscard]] u64 count(RowState state) const { return counts[static_cast<std::size_t>(state)]; }
};
[[nodiscard]] RowChanges count_states(std::vector<RowChange> rows);

// What an update breaks for a driver that uses the table of this path: `servicing-moved`,
// `servicing-changed`, `servicing-gone` and `servicing-unproved`, once for each row of that state.
void note_row_changes(std::string_view path, std::span<const RowChange> rows,
                      core::Findings& findings);

// Requests for the new build, so that its members can be compared with those of a table: for each
// that has a value, the request of its name and kind, otherwise the expression that it came from.
[[nodiscard]] std::vector<MemberRequest> repeat_requests(const HookTable& table,
                                                         std::span<const MemberRequest> given);

// The build whose kernel a file is; for a copy, that of the file with the same headers. Null if
// there is none. Valid as long as `builds`.
[[nodiscard]] const BuildFiles* find_build(std::span<const BuildFiles> builds,
                                           const ServicedModule& kernel);

// A module with an unknown name from which a table was made is a kernel, by its headers.
void mark_kernels(std::span<ServicedModule> modules, const HookTable& build);
// So is the module that the new system has in place of a kernel and under its name.
void mark_kernels(std::span<const ServicedModule> before, std::span<ServicedModule> after,
                  std::span<const ModulePair> pairs);

// The pairs whose old module is a kernel with these headers. Those without a new module count only
// if all others lack one, and then once.
[[nodiscard]] std::vector<ModulePair> pairs_of_kernel(std::span<const ModulePair> pairs,
                                                      std::span<const ServicedModule> before,
                                                      const pe::Identity& kernel);

// `servicing-table`: of `builds` builds of the table at `path`, `missing` have no kernel in
// `system`: informational, or a warning if none has one.
void note_missing_kernels(std::string_view path, std::string_view system, std::size_t missing,
                          std::size_t builds, core::Findings& findings);

}  // namespace coldtrace::syscall_map
