#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/syscall-map/servicing/hook_rows.hpp"

namespace coldtrace::syscall_map {

// What an update makes of a row. Of several that are true the last one counts.
enum class RowState : u8 {
  survives,  // every value that the table has is that of the new build
  moved,     // a place is another one: number, RVA, offset
  unproved,  // the new build has it otherwise or not at all, or what was given of it does not tell
  changed,   // it is something else: other arguments, bytes, sizes
  gone,      // the new build does not have it
  added,     // the new build alone has it
};
inline constexpr std::size_t row_states = 6;

[[nodiscard]] std::string_view to_string(RowState state);

// A value that two builds do not share.
struct ChangedValue {
  std::string_view member;
  std::optional<HookRowContent> before, after;  // nothing: not known there
};

// What became of a row of a hook table in the other build.
struct RowChange {
  HookRowKind kind = HookRowKind::service;
  std::string name;
  RowState state = RowState::survives;
  std::string reason;                // a sentence where it is unproved or gone
  std::vector<ChangedValue> values;  // that differ; of one that is gone or added those it had
};

// What is known of the build that rows are looked for in.
struct ComparedBuild {
  const HookTable& table;
  bool has_symbols = false;  // a PDB of it was read: what that does not name is not there
  bool has_types = true;     // and has types; without them it says nothing of members
};

// Every row of `before`, in its order, then those that the new build alone has. A row is found by
// its kind and name, a service also by another name that both builds give it.
[[nodiscard]] std::vector<RowChange> compare_hook_rows(const HookTable& before,
                                                       const ComparedBuild& after);

// As if the new system had no kernel: every row is unproved, for this reason.
[[nodiscard]] std::vector<RowChange> unproved_rows(const HookTable& before,
                                                   std::string_view reason);

}  // namespace coldtrace::syscall_map
