#include "tracefile/providers/kernel_group.hpp"

#include <array>

namespace coldtrace::tracefile {
namespace {

struct Row {
  u8 group;
  std::string_view name;
  core::Guid guid;
};

constexpr Row rows[] = {
#define KERNEL_GROUP(group, name, guid) {group, name, *core::parse_guid(guid)},
#include "tracefile/providers/kernel_group_table.inc"
#undef KERNEL_GROUP
};

constexpr u8 process_group = 0x03;
constexpr u8 image_group = 0x14;
constexpr u8 image_load = 10;

constexpr auto by_group = [] {
  std::array<core::Guid, 256> guids{};
  for (const auto& row : rows) guids[row.group] = row.guid;
  return guids;
}();

}  // namespace

core::Guid kernel_class(u8 group, u8 opcode) {
  return by_group[group == process_group && opcode == image_load ? image_group : group];
}

std::optional<u8> find_kernel_group(const core::Guid& guid) {
  for (const auto& row : rows)
    if (row.guid == guid) return row.group;
  return std::nullopt;
}

std::string_view kernel_class_name(u8 group) {
  for (const auto& row : rows)
    if (row.group == group) return row.name;
  return {};
}

}  // namespace coldtrace::tracefile
