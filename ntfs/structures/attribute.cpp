#include "coldtrace/ntfs/attribute.hpp"

#include <algorithm>

namespace coldtrace::ntfs {

using core::Fault;

std::string_view to_string(AttributeType type) {
  switch (type) {
    case AttributeType::standard_information:
      return "$STANDARD_INFORMATION";
    case AttributeType::attribute_list:
      return "$ATTRIBUTE_LIST";
    case AttributeType::file_name:
      return "$FILE_NAME";
    case AttributeType::object_id:
      return "$OBJECT_ID";
    case AttributeType::security_descriptor:
      return "$SECURITY_DESCRIPTOR";
    case AttributeType::volume_name:
      return "$VOLUME_NAME";
    case AttributeType::volume_information:
      return "$VOLUME_INFORMATION";
    case AttributeType::data:
      return "$DATA";
    case AttributeType::index_root:
      return "$INDEX_ROOT";
    case AttributeType::index_allocation:
      return "$INDEX_ALLOCATION";
    case AttributeType::bitmap:
      return "$BITMAP";
    case AttributeType::reparse_point:
      return "$REPARSE_POINT";
    case AttributeType::ea_information:
      return "$EA_INFORMATION";
    case AttributeType::ea:
      return "$EA";
    case AttributeType::property_set:
      return "$PROPERTY_SET";
    case AttributeType::logged_utility_stream:
      return "$LOGGED_UTILITY_STREAM";
    case AttributeType::end:
      break;
  }
  return {};
}

AttributeReader::AttributeReader(core::ByteView record, u32 first, u32 used_size, u64 offset)
    : used_{record.first(std::min<std::size_t>(record.size(), used_size))},
      base_{offset},
      at_{first} {
  if (used_size > record.size())
    damage_ = core::ParseError{Fault::out_of_bounds, offset + 0x18, "FILE",
                               "UsedSize",           record.size(), used_size};
}

bool AttributeReader::stop(Fault fault, core::Name field, u64 expected, u64 found) {
  damage_ = core::ParseError{fault, base_ + at_, "attribute", field, expected, found};
  at_ = static_cast<u32>(used_.size());
  return false;
}

bool AttributeReader::read(Attribute& attribute) {
  const auto type = core::load<u32>(used_, at_);
  if (!type || *type == static_cast<u32>(AttributeType::end)) return false;
  const auto header = core::Fields<0x10>::at(used_, at_);
  const u64 left = used_.size() - at_;
  if (!header) return stop(Fault::truncated, "header", 0x10, left);
  u32 length = header->get<u32, 4>();
  // Old volumes have garbage in the upper half of the length.
  if (length > left) length &= 0xffff;
  if (length < 0x18 || length > left || length % 8 != 0)
    return stop(Fault::bad_value, "Length", left, header->get<u32, 4>());
  const auto bytes = used_.subspan(at_, length);
  const u64 name_size = u64{header->get<u8, 9>()} * 2;
  const auto name = core::slice(bytes, header->get<u16, 0x0a>(), name_size);
  if (!name && name_size > 0)
    return stop(Fault::out_of_bounds, "NameOffset", length, header->get<u16, 0x0a>());
  attribute.type = static_cast<AttributeType>(*type);
  attribute.flags = header->get<u16, 0x0c>();
  attribute.id = header->get<u16, 0x0e>();
  attribute.resident = header->get<u8, 8>() == 0;
  attribute.offset = at_;
  attribute.name = name_size > 0 ? *name : core::ByteView{};
  return attribute.resident ? read_resident(attribute, bytes) : read_non_resident(attribute, bytes);
}

bool AttributeReader::read_resident(Attribute& attribute, core::ByteView bytes) {
  const auto fields = *core::Fields<0x18>::at(bytes, 0);
  const auto value = core::slice(bytes, fields.get<u16, 0x14>(), fields.get<u32, 0x10>());
  if (!value)
    return stop(Fault::out_of_bounds, "ValueLength", bytes.size(), fields.get<u32, 0x10>());
  attribute.value_offset = at_ + fields.get<u16, 0x14>();
  attribute.value = *value;
  at_ += static_cast<u32>(bytes.size());
  return true;
}

bool AttributeReader::read_non_resident(Attribute& attribute, core::ByteView bytes) {
  const auto fields = core::Fields<0x40>::at(bytes, 0);
  if (!fields) return stop(Fault::truncated, "Length", 0x40, bytes.size());
  const u64 lowest = fields->get<u64, 0x10>();
  const u64 highest = fields->get<u64, 0x18>();  // -1 when the stream is empty
  const u16 runs_offset = fields->get<u16, 0x20>();
  // An extent ends at or behind its start; adding one wraps -1 to 0.
  if (highest + 1 < lowest || lowest > ~u64{0} >> 1 || (highest + 1) > ~u64{0} >> 1)
    return stop(Fault::bad_value, "HighestVcn", lowest, highest);
  if (runs_offset < 0x40 || runs_offset > bytes.size())
    return stop(Fault::out_of_bounds, "RunsOffset", bytes.size(), runs_offset);
  attribute.lowest_vcn = lowest;
  attribute.cluster_count = highest + 1 - lowest;
  attribute.compression_unit = fields->get<u8, 0x22>();
  attribute.allocated_size = fields->get<u64, 0x28>();
  attribute.size = fields->get<u64, 0x30>();
  attribute.valid_size = fields->get<u64, 0x38>();
  attribute.total_allocated.reset();
  // A run list that starts at 0x40 leaves no room for the field.
  if ((attribute.flags & 0x80ff) != 0 || attribute.compression_unit != 0)
    if (runs_offset >= 0x48) attribute.total_allocated = core::load<u64>(bytes, 0x40);
  attribute.runs_offset = at_ + runs_offset;
  attribute.runs = bytes.subspan(runs_offset);
  at_ += static_cast<u32>(bytes.size());
  return true;
}

}  // namespace coldtrace::ntfs
