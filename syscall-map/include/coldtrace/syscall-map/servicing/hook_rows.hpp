#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::syscall_map {

// The subject of a row of a hook table.
enum class HookRowKind : u8 {
  service,         // by its name
  service_table,   // by its name: KiServiceTable
  services_tab,    // KiServicesTab
  context_switch,  // by its name: SwapContext
  thread_offset,   // by structure and field: _ETHREAD.Cid.UniqueThread
  interface,       // a documented one that the kernel exports or imports, by its name
  trace_point,     // one that can be set, by what was requested
  member,          // of a member list, with a value
};

[[nodiscard]] std::string_view to_string(HookRowKind kind);

// A non-negative number, a negative one, or a text.
using HookRowContent = std::variant<u64, i64, std::string>;

// A value that a driver takes from a row.
struct HookRowValue {
  std::string_view member;  // as in the JSON of tables: "target"
  // A position: an RVA, a number, an offset. Otherwise content: bytes of arguments, bytes of code.
  bool is_place = false;
  HookRowContent content;

  bool operator==(const HookRowValue&) const = default;
};

// One entry of a hook table for a build.
struct HookRow {
  HookRowKind kind = HookRowKind::service;
  std::string name;                  // empty for a service that nothing names
  std::vector<std::string> aliases;  // other names of a service
  u32 occurrence = 0;                // number of preceding rows of the same kind and name
  std::vector<HookRowValue> values;  // the known ones

  // Null where the value is not known.
  [[nodiscard]] const HookRowValue* find(std::string_view member) const;
};

// The rows of a table that a driver uses. Left out are trace points that are refused, members that
// the build does not have, and interfaces that the kernel neither exports nor imports.
[[nodiscard]] std::vector<HookRow> list_hook_rows(const HookTable& table);

}  // namespace coldtrace::syscall_map
