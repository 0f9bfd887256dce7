#include "coldtrace/tracefile/instrumentation/wevt_fields.hpp"

namespace coldtrace::tracefile {
namespace {

using core::Fault;
using Rule = FieldSchema::Rule;

constexpr u32 known_flags = 0x1f;
constexpr auto unknown_type = static_cast<InType>(0xffff);

bool is_known(u8 type) {
  const auto in = static_cast<InType>(type);
  return in != InType::null && in != InType::structure && in <= InType::counted_binary;
}

class FieldBuilder {
 public:
  FieldBuilder(const WevtTemplate& declared, u64 offset,
               const std::function<std::shared_ptr<const ValueMap>(u32)>& find_map)
      : declared_{declared},
        offset_{offset},
        find_map_{find_map},
        slot_of_(declared.items.size(), 0) {}

  core::Result<WevtFields> build() {
    WevtFields built;
    if (!mark_references() || !add_range(built.fields, 0, declared_.top_level, 0))
      return core::fail(error_);
    make_names_unique(built.fields);
    built.slots = slots_;
    return built;
  }

 private:
  using Flag = WevtItem::Flag;

  // Items that give a length or count get a slot.
  bool mark_references() {
    for (std::size_t i = 0; i < declared_.items.size(); ++i) {
      const auto& item = declared_.items[i];
      const auto lengths = item.flags & (Flag::fixed_length | Flag::length_of_item);
      const auto counts = item.flags & (Flag::fixed_count | Flag::count_of_item);
      if ((item.flags & ~known_flags) != 0 ||
          lengths == (Flag::fixed_length | Flag::length_of_item) ||
          counts == (Flag::fixed_count | Flag::count_of_item))
        return reject("flags", known_flags, item.flags);
      if ((item.flags & Flag::length_of_item) != 0 && !mark(item.length, i)) return false;
      if ((item.flags & Flag::count_of_item) != 0 && !mark(item.count, i)) return false;
    }
    return true;
  }

  bool mark(u16 item, std::size_t user) {
    if (item >= user) return reject("index of an item", user, item);
    if (slot_of_[item] != 0) return true;
    if (slots_ >= EventSchema::largest_slot)
      return reject("items that others refer to", EventSchema::largest_slot, slots_);
    slot_of_[item] = ++slots_;
    return true;
  }

  bool add_range(std::vector<FieldSchema>& into, std::size_t first, std::size_t count,
                 unsigned depth) {
    if (depth >= deepest_structure) return reject("structure", deepest_structure, depth);
    for (std::size_t i = first; i < first + count; ++i) {
      if (++fields_ > most_fields) return reject("fields", most_fields, fields_);
      FieldSchema field;
      if (!read(field, i, depth)) return false;
      into.push_back(std::move(field));
    }
    return true;
  }

  bool read(FieldSchema& field, std::size_t index, unsigned depth) {
    const auto& item = declared_.items[index];
    field.name = item.name;
    field.slot = slot_of_[index];
    field.count = amount(item, Flag::fixed_count, Flag::count_of_item, item.count);
    if ((item.flags & Flag::is_structure) != 0) {
      field.in = InType::structure;
      // Members come after what has them, which rules out circles.
      if (item.first_member <= index ||
          std::size_t{item.first_member} + item.members > declared_.items.size())
        return reject("first member", declared_.items.size(), item.first_member);
      return add_range(field.members, item.first_member, item.members, depth + 1);
    }
    field.in = is_known(item.in) ? static_cast<InType>(item.in) : unknown_type;
    field.out = static_cast<OutType>(item.out);
    field.length = amount(item, Flag::fixed_length, Flag::length_of_item, item.length);
    if (field.in == InType::binary && field.length.rule == Rule::none && field.out != OutType::ipv6)
      field.in = unknown_type;
    if (item.map != 0) field.map = find_map_(item.map);
    return true;
  }

  FieldSchema::Amount amount(const WevtItem& item, Flag fixed, Flag of_item, u16 number) const {
    if ((item.flags & of_item) != 0) return {Rule::slot, slot_of_[number]};
    if ((item.flags & fixed) != 0) return {Rule::fixed, number};
    return {};
  }

  bool reject(core::Name field, u64 expected, u64 found) {
    error_ = {Fault::bad_value, offset_, "TEMP", field, expected, found};
    return false;
  }

  const WevtTemplate& declared_;
  u64 offset_;
  const std::function<std::shared_ptr<const ValueMap>(u32)>& find_map_;
  std::vector<u16> slot_of_;  // by item; 0: none refers to it
  u16 slots_ = 0;
  std::size_t fields_ = 0;
  core::ParseError error_{Fault::bad_value, 0, "TEMP", "", 0, 0};
};

}  // namespace

core::Result<WevtFields> to_fields(
    const WevtTemplate& declared, u64 offset,
    const std::function<std::shared_ptr<const ValueMap>(u32)>& find_map) {
  return FieldBuilder{declared, offset, find_map}.build();
}

}  // namespace coldtrace::tracefile
