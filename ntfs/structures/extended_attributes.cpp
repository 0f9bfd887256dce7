#include "coldtrace/ntfs/structures/extended_attributes.hpp"

#include "coldtrace/core/text.hpp"

namespace coldtrace::ntfs {

std::optional<ExtendedAttribute> ExtendedAttributeReader::next() {
  const auto fields = core::Fields<8>::at(list_, 0);
  if (!fields) return std::nullopt;
  const u32 step = fields->get<u32, 0>();
  const u64 name_size = fields->get<u8, 5>();
  const auto name = core::slice(list_, 8, name_size);
  // A zero follows the name.
  const auto value = core::slice(list_, 8 + name_size + 1, fields->get<u16, 6>());
  if (!name || !value || name_size == 0) return std::nullopt;
  list_ = step >= 8 && step <= list_.size() ? list_.subspan(step) : core::ByteView{};
  return ExtendedAttribute{core::to_chars(*name), *value};
}

}  // namespace coldtrace::ntfs
