#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::syscall_map {

// What a row of a hook table is about.
enum class HookRowKind : u8 {
  service,         // by its name
  service_table,   // by its name: KiServiceTable
  services_tab,    // KiServicesTab
  context_switch,  // by its name: SwapContext
  thread_offset,   // by structure and field: _ETHREAD.Cid.UniqueThread
  interface,       // a documented one that the kernel exports or imports, by its name
  trace_point,     // that can be set, by what was asked for
  member,          // of a member list, with a value
};

[[nodiscard]] std::string_view to_string(HookRowKind kind);

// A number, one below 0, or a text.
using HookRowContent = std::variant<u64, i64, std::string>;

// A value that a driver takes from a row.
struct HookRowValue {
  std::string_view member;  // as the JSON of tables has it: "target"
  // Where something is: an RVA, a number, an offset. Else what it is: how many bytes of arguments,
  // which bytes of code.
  bool is_place = false;
  HookRowContent content;

  bool operator==(const HookRowValue&) const = default;
};

// One thing that a hook table says of a build.
struct HookRow {
  HookRowKind kind = HookRowKind::service;
  std::string name;                  // empty of a service that nothing names
  std::vector<std::string> aliases;  // other names of a service
  u32 occurrence = 0;                // of rows of one kind and name how many come before
  std::vector<HookRowValue> values;  // those that are known

  // Null where the value is not known.
  [[nodiscard]] const HookRowValue* find(std::string_view member) const;
};

// What of a table a driver uses, row by row. Left out are trace points that are refused, members
// that the build does not have, and interfaces that the kernel neither exports nor imports.
[[nodiscard]] std::vector<HookRow> list_hook_rows(const HookTable& table);

}  // namespace coldtrace::syscall_map
