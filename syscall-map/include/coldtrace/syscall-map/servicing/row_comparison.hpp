#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/syscall-map/servicing/hook_rows.hpp"

namespace coldtrace::syscall_map {

// The effect of an update on a row. If several apply, the last one takes precedence.
enum class RowState : u8 {
  survives,  // every value in the table is that of the new build
  moved,     // a position differs: number, RVA, offset
  unproved,  // the new build has it differently or not at all, or the given files do not show it
  changed,   // something else differs: arguments, bytes, sizes
  gone,      // the new build does not have it
  added,     // only the new build has it
};
inline constexpr std::size_t row_states = 6;

[[nodiscard]] std::string_view to_string(RowState state);

// A value that differs between two builds.
struct ChangedValue {
  std::string_view member;
  std::optional<HookRowContent> before, after;  // nothing: unknown there
};

// The state of a row of a hook table in the other build.
struct RowChange {
  HookRowKind kind = HookRowKind::service;
  std::string name;
  RowState state = RowState::survives;
  std::string reason;                // a sentence if it is unproved or gone
  std::vector<ChangedValue> values;  // the differing ones; for a row that is gone or added, all
};

// What is known about the build in which rows are looked for.
struct ComparedBuild {
  core::Borrowed<HookTable> table;
  bool has_symbols = false;  // a PDB of it was read: what that does not name does not exist
  bool has_types = true;     // and has types; without them it does not show members
};

// Every row of `before`, in its order, then those that only the new build has. A row is found by
// its kind and name, a service also by another name that both builds give it.
[[nodiscard]] std::vector<RowChange> compare_hook_rows(const HookTable& before,
                                                       const ComparedBuild& after);

// As if the new system had no kernel: every row is unproved, for this reason.
[[nodiscard]] std::vector<RowChange> unproved_rows(const HookTable& before,
                                                   std::string_view reason);

}  // namespace coldtrace::syscall_map
