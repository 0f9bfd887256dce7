#include "coldtrace/pdb/table_shape.hpp"

#include <algorithm>
#include <array>

namespace coldtrace::pe {

std::string_view slot_kind_of(u8 slot) {
  constexpr std::array<std::string_view, 7> names = {"near16", "far16", "this", "outer",
                                                     "meta",   "near",  "far"};
  return slot < names.size() ? names[slot] : "unknown";
}

std::optional<TableShape> find_table_shape(const TypeTable& table, u32 index) {
  constexpr u16 kind_table_shape = 0x000a;
  constexpr u64 shape_field = 14;  // in the old form of the record and in the new one
  const auto* const record = table.find_record(index);
  const auto aggregate = record ? read_aggregate(*record) : std::nullopt;
  if (!aggregate || aggregate->kind == AggregateKind::union_) return std::nullopt;
  TableShape shape{core::load<u32>(*record, shape_field).value_or(0), {}};
  const auto* const found = table.find_record(shape.index);
  if (!found || kind_of(*found) != kind_table_shape) return std::nullopt;
  constexpr u64 slots_at = 4;
  const u64 stored = (found->size() - std::min<u64>(found->size(), slots_at)) * 2;
  const u64 count = std::min<u64>(core::load<u16>(*found, 2).value_or(0), stored);
  for (u64 i = 0; i < count; ++i) {
    const auto both = core::load<u8>(*found, slots_at + i / 2).value_or(0);
    shape.slots.push_back(i % 2 == 0 ? both >> 4U : both & 0xfU);
  }
  return shape;
}

}  // namespace coldtrace::pe
