#include "coldtrace/pdb/placed_members.hpp"

#include "coldtrace/pdb/type_layers.hpp"

namespace coldtrace::pe {

MemberPlaces placed_members(const TypeTable& table, u32 index, TypeBudget& budget,
                            core::Findings& findings) {
  MemberPlaces members;
  using Why = UnplacedMember::Why;
  visit_members(table, index, {}, budget, findings, [&](const TypeMember& one) {
    const auto& field = one.field;
    if (field.kind != Field::Kind::member && field.kind != Field::Kind::base &&
        field.kind != Field::Kind::virtual_table)
      return;
    const auto leave_out = [&](Why why) {
      members.unplaced.push_back({field.name, field.type, one.offset, why});
    };
    const auto size = size_of(table, field.type);
    if (!size) return leave_out(Why::size);
    PlacedMember placed{field.name, field.type, one.offset, *size};
    const auto* const record = table.find_record(table.unmodified(field.type));
    if (const auto bits = record ? read_bit_field(*record) : std::nullopt) {
      // More bits than the integer has are damage.
      if (bits->length == 0 || bits->position + bits->length > *size * 8)
        return leave_out(Why::bits);
      placed.bit_position = bits->position;
      placed.bit_length = bits->length;
    }
    members.placed.push_back(placed);
  });
  return members;
}

}  // namespace coldtrace::pe
