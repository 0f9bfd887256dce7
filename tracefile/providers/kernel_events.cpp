#include "tracefile/providers/kernel_events.hpp"

#include <charconv>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "tracefile/providers/event_layout.hpp"
#include "tracefile/providers/kernel_group.hpp"
#include "tracefile/providers/kernel_values.hpp"

namespace coldtrace::tracefile {
namespace {

struct ClassRow {
  std::string_view name;  // empty: an event row
  std::string_view guid;
  u8 first_version = 0;
  u8 last_version = 0;
  std::string_view opcodes;
  std::string_view layout;
};

constexpr ClassRow table[] = {
#define KERNEL_CLASS(name, guid) {name, guid, 0, 0, {}, {}},
#define KERNEL_EVENT(first, last, opcodes, layout) {{}, {}, first, last, opcodes, layout},
#include "tracefile/providers/kernel_event_table.inc"
#undef KERNEL_CLASS
#undef KERNEL_EVENT
};

struct Hook {
  u16 id;
  std::string_view name;
};

constexpr Hook hooks[] = {
#define KERNEL_HOOK(id, name) {id, name},
#include "tracefile/providers/kernel_hook_table.inc"
#undef KERNEL_HOOK
};

struct Named {
  std::string_view name;  // of the opcode
  const KernelEventRow* row;
};

using Key = std::tuple<core::Guid, u8>;  // class and opcode

std::map<Key, std::vector<Named>> index_rows() {
  std::map<Key, std::vector<Named>> index;
  for (const auto& row : kernel_event_rows()) {
    auto left = row.opcodes;
    while (!left.empty()) {
      const auto end = std::min(left.find(','), left.size());
      auto one = left.substr(0, end);
      left.remove_prefix(std::min(end + 1, left.size()));
      one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
      const auto blank = one.find(' ');
      u8 opcode = 0;
      std::from_chars(one.data(), one.data() + blank, opcode);
      index[{row.guid, opcode}].push_back({one.substr(blank + 1), &row});
    }
  }
  return index;
}

const std::map<Key, std::vector<Named>>& rows_by_opcode() {
  static const auto index = index_rows();
  return index;
}

std::string_view class_name_of(const core::Guid& guid) {
  for (const auto& row : kernel_event_rows())
    if (row.guid == guid) return row.class_name;
  if (const auto group = find_kernel_group(guid)) return kernel_class_name(*group);
  return {};
}

std::string_view hook_name(u8 group, u8 opcode) {
  for (const auto& hook : hooks)
    if (hook.id == (group << 8 | opcode)) return hook.name;
  return {};
}

std::string qualified(std::string_view class_name, std::string_view name, u8 opcode) {
  return name.empty() ? fmt::format("{}/Opcode{}", class_name, opcode)
                      : fmt::format("{}/{}", class_name, name);
}

}  // namespace

const std::vector<KernelEventRow>& kernel_event_rows() {
  static const auto rows = [] {
    std::vector<KernelEventRow> found;
    std::string_view name;
    core::Guid guid;
    for (const auto& row : table) {
      if (!row.name.empty()) {
        name = row.name;
        guid = core::parse_guid(row.guid).value_or(core::Guid{});
        continue;
      }
      found.push_back({name, guid, row.first_version, row.last_version, row.opcodes, row.layout});
    }
    return found;
  }();
  return rows;
}

std::optional<KernelEvent> find_kernel_event(const Event& event) {
  if (event.event_class != EventClass::classic) return std::nullopt;
  const auto class_name = class_name_of(event.provider);
  if (class_name.empty()) {
    if (!event.kernel_group) return std::nullopt;
    const auto class_number = fmt::format("Group{}", *event.kernel_group);
    return KernelEvent{{}, qualified(class_number, {}, event.opcode), nullptr};
  }
  const auto found = rows_by_opcode().find({event.provider, event.opcode});
  if (found == rows_by_opcode().end()) {
    const auto group = find_kernel_group(event.provider);
    const auto name = group ? hook_name(*group, event.opcode) : std::string_view{};
    return KernelEvent{class_name, qualified(class_name, name, event.opcode), nullptr};
  }
  const auto& candidates = found->second;
  for (const auto& [name, row] : candidates) {
    if (event.version < row->first_version || event.version > row->last_version) continue;
    auto schema = parse_event_layout(row->layout, find_kernel_values);
    if (!schema) break;
    return KernelEvent{class_name, qualified(class_name, name, event.opcode),
                       std::make_shared<const EventSchema>(std::move(*schema))};
  }
  return KernelEvent{class_name, qualified(class_name, candidates.front().name, event.opcode),
                     nullptr, true};
}

}  // namespace coldtrace::tracefile
