#include "coldtrace/ntfs/structures/attribute_list.hpp"

namespace coldtrace::ntfs {

std::optional<AttributeListEntry> AttributeListReader::next() {
  constexpr u64 fixed_size = 0x1a;
  const auto note = [&](core::Fault fault, core::Name field, u64 expected, u64 found) {
    if (!damage_)
      damage_ = core::ParseError{fault, base_ + at_, "$ATTRIBUTE_LIST", field, expected, found};
  };
  while (at_ < list_.size()) {
    const u64 left = list_.size() - at_;
    const auto fields = core::Fields<fixed_size>::at(list_, at_);
    // A list may be padded with zeros.
    if (fields && fields->get<u32, 0>() == 0 && fields->get<u16, 4>() == 0) return std::nullopt;
    if (!fields) {
      note(core::Fault::truncated, "entry", fixed_size, left);
      at_ = list_.size();
      return std::nullopt;
    }
    const u16 length = fields->get<u16, 4>();
    if (length < fixed_size || length > left) {
      note(core::Fault::bad_value, "EntryLength", left, length);
      at_ = list_.size();
      return std::nullopt;
    }
    const auto bytes = list_.subspan(at_, length);
    const auto name = core::slice(bytes, fields->get<u8, 7>(), u64{fields->get<u8, 6>()} * 2);
    const AttributeListEntry entry{.type = static_cast<AttributeType>(fields->get<u32, 0>()),
                                   .name = name.value_or(core::ByteView{}),
                                   .lowest_vcn = fields->get<u64, 8>(),
                                   .record = to_file_reference(fields->get<u64, 0x10>()),
                                   .id = fields->get<u16, 0x18>()};
    if (!name) note(core::Fault::out_of_bounds, "NameOffset", length, fields->get<u8, 7>());
    at_ += (u64{length} + 7) / 8 * 8;
    if (name) return entry;
  }
  return std::nullopt;
}

}  // namespace coldtrace::ntfs
