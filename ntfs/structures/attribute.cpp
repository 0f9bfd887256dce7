#include "coldtrace/ntfs/structures/attribute.hpp"

#include <algorithm>
#include <array>

#include "coldtrace/ntfs/structures/data_runs.hpp"

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

namespace {

enum Form : u8 { resident = 1, elsewhere = 2, unnamed = 4, named = 8 };

// How attributes of each known type are stored. Sources: the flags of $AttrDef; only streams and
// what belongs to an index have names.
constexpr std::array<u8, 17> forms{
    0,
    resident | unnamed,                      // $STANDARD_INFORMATION
    resident | elsewhere | unnamed,          // $ATTRIBUTE_LIST
    resident | unnamed,                      // $FILE_NAME
    resident | unnamed,                      // $OBJECT_ID
    resident | elsewhere | unnamed,          // $SECURITY_DESCRIPTOR
    resident | unnamed,                      // $VOLUME_NAME
    resident | unnamed,                      // $VOLUME_INFORMATION
    resident | elsewhere | unnamed | named,  // $DATA
    resident | named,                        // $INDEX_ROOT
    elsewhere | named,                       // $INDEX_ALLOCATION
    resident | elsewhere | unnamed | named,  // $BITMAP
    resident | elsewhere | unnamed,          // $REPARSE_POINT
    resident | unnamed,                      // $EA_INFORMATION
    resident | elsewhere | unnamed,          // $EA
    resident | elsewhere | unnamed | named,  // $PROPERTY_SET
    resident | elsewhere | unnamed | named,  // $LOGGED_UTILITY_STREAM
};

// 0 for a type that NTFS does not have.
u8 forms_of(u32 type) {
  return type % 0x10 == 0 && type / 0x10 < forms.size() ? forms[type / 0x10] : u8{0};
}

// Whether a resident value starts as one of its type does. Source: linux-ntfs documentation.
bool is_value_of(AttributeType type, core::ByteView value) {
  const auto field = [&](u64 offset) { return core::load<u32>(value, offset).value_or(~u32{0}); };
  switch (type) {
    case AttributeType::object_id:
      return value.size() >= 16 && value.size() <= 64 && value.size() % 16 == 0;
    case AttributeType::security_descriptor:
      return value.size() >= 20 && value[0] == std::byte{1};
    case AttributeType::index_root:
      return value.size() >= 0x20 && field(0x14) <= value.size() - 0x10;
    case AttributeType::ea_information:
      return value.size() == 8;
    case AttributeType::ea:
      return field(0) <= value.size();
    default:
      return true;
  }
}

constexpr u32 marker_size = 8;

constexpr u64 align(u64 size) {
  return (size + 7) / 8 * 8;
}

bool covers(core::ByteView mapping_pairs, u64 clusters) {
  DataRunReader runs{mapping_pairs, 0};
  u64 left = clusters;
  while (const auto run = runs.next()) {
    if (run->clusters > left) return false;
    left -= run->clusters;
  }
  return left == 0 && !runs.damage();
}

}  // namespace

AttributeReader::AttributeReader(core::BorrowedBytes record, u32 first, u32 used_size, u64 offset)
    : record_{record.get()},
      used_{record_.first(std::min<std::size_t>(record_.size(), used_size))},
      base_{offset},
      first_{first},
      at_{first},
      start_{first} {
  if (used_size > record_.size())
    damage_ = core::ParseError{Fault::out_of_bounds, offset + 0x18,  "FILE",
                               "UsedSize",           record_.size(), used_size};
}

bool AttributeReader::note(Fault fault, core::Name field, u64 expected, u64 found) {
  if (!damage_)
    damage_ = core::ParseError{fault, base_ + start_, "attribute", field, expected, found};
  return false;
}

bool AttributeReader::stop(Fault fault, core::Name field, u64 expected, u64 found) {
  at_ = static_cast<u32>(used_.size());
  return note(fault, field, expected, found);
}

bool AttributeReader::read(Attribute& attribute) {
  while (const auto bytes = take_bytes()) {
    if (!read_from(*bytes, attribute)) continue;
    check_place(attribute);
    return true;
  }
  if (!damage_) check_end();
  return false;
}

// A marker takes the last 8 bytes that a record uses. Attributes that were removed leave bytes
// behind it, but none so that the second half of the marker is the length of one.
void AttributeReader::check_end() {
  const u64 end = u64{start_} + marker_size;
  if (used_.size() - start_ < sizeof(u32)) {
    note(Fault::truncated, "EndMarker", marker_size, used_.size() - start_);
  } else if (end != used_.size()) {
    note(Fault::bad_value, "UsedSize", end, used_.size());
  } else if (const u64 next = u64{start_} + *core::load<u32>(used_, start_ + 4);
             next >= end && (is_end(next) || is_attribute(next))) {
    note(Fault::bad_value, "EndMarker", 0, next - start_);
  } else if (is_attribute(end)) {
    remains_ = static_cast<u32>(end);
  }
}

bool AttributeReader::is_end(u64 at) const {
  return core::load<u32>(record_, at) == static_cast<u32>(AttributeType::end);
}

// Whether the record has bytes there that are a sound attribute.
bool AttributeReader::is_attribute(u64 at) const {
  if (at >= record_.size()) return false;
  AttributeReader probe{record_, static_cast<u32>(at), static_cast<u32>(record_.size()), 0};
  Attribute attribute{};
  const auto bytes = probe.take_bytes();
  return bytes && probe.read_from(*bytes, attribute);
}

std::optional<core::ByteView> AttributeReader::take_bytes() {
  start_ = at_;
  const auto type = core::load<u32>(used_, start_);
  if (!type || *type == static_cast<u32>(AttributeType::end)) return std::nullopt;
  const u64 left = used_.size() - start_;
  const u32 length = left < 8 ? 0 : length_at(start_);
  if (length < 0x18 || length > left || length % 8 != 0) {
    if (left < 0x10)
      stop(Fault::truncated, "header", 0x10, left);
    else
      stop(Fault::bad_value, "Length", left, *core::load<u32>(used_, start_ + 4));
    return std::nullopt;
  }
  at_ += length;
  return used_.subspan(start_, length);
}

bool AttributeReader::read_from(core::ByteView bytes, Attribute& attribute) {
  const auto header = *core::Fields<0x10>::at(bytes, 0);
  const auto type = header.get<u32, 0>();
  const auto allowed = forms_of(type);
  const u8 non_resident = header.get<u8, 8>();
  const u8 name_units = header.get<u8, 9>();
  attribute.type = static_cast<AttributeType>(type);
  attribute.flags = header.get<u16, 0x0c>();
  attribute.id = header.get<u16, 0x0e>();
  attribute.resident = non_resident == 0;
  attribute.offset = start_;
  if (attribute.resident ? !read_resident(bytes, attribute) : !read_non_resident(bytes, attribute))
    return false;
  if (allowed == 0) return note(Fault::bad_value, "Type", 0x100, type);
  if (non_resident > 1 || (allowed & (attribute.resident ? resident : elsewhere)) == 0)
    return note(Fault::bad_value, "NonResident", attribute.resident ? 1 : 0, non_resident);
  if ((allowed & (name_units == 0 ? unnamed : named)) == 0)
    return note(Fault::bad_value, "NameLength", name_units == 0 ? 1 : 0, name_units);
  if (attribute.resident && !is_value_of(attribute.type, attribute.value))
    return note(Fault::bad_value, "Value", type, attribute.value.size());
  constexpr u16 known_flags = 0xc001;
  if ((attribute.flags & ~known_flags) != 0)
    return note(Fault::bad_value, "Flags", known_flags, attribute.flags);
  return true;
}

// A name stands behind the head and before what the attribute holds.
bool AttributeReader::read_name(core::ByteView bytes, u64 place, Attribute& attribute) {
  const auto units = core::load<u8>(bytes, 9).value_or(0);
  attribute.name = {};
  if (units == 0) return true;
  const auto stored = core::load<u16>(bytes, 0x0a).value_or(0);
  if (stored != place) return note(Fault::bad_value, "NameOffset", place, stored);
  const u64 size = u64{units} * 2;
  attribute.name = bytes.subspan(place, size);
  // A zero is not part of a name: fewer units would be the name.
  for (u64 i = 0; i < units; ++i)
    if (*core::load<u16>(attribute.name, i * 2) == 0)
      return note(Fault::bad_value, "NameLength", i, units);
  return true;
}

bool AttributeReader::read_resident(core::ByteView bytes, Attribute& attribute) {
  constexpr u64 head = 0x18;
  const auto fields = *core::Fields<head>::at(bytes, 0);
  const u64 size = fields.get<u32, 0x10>();
  const u16 place = fields.get<u16, 0x14>();
  // Where the next attribute is stands on the length alone.
  if (align(place + size) != bytes.size())
    return stop(Fault::bad_value, "ValueLength", bytes.size(), size);
  const u64 expected = align(head + u64{fields.get<u8, 9>()} * 2);
  if (place != expected) return note(Fault::bad_value, "ValueOffset", expected, place);
  if (!read_name(bytes, head, attribute)) return false;
  attribute.value_offset = start_ + place;
  attribute.value = bytes.subspan(place, size);
  return true;
}

bool AttributeReader::read_non_resident(core::ByteView bytes, Attribute& attribute) {
  const auto fields = core::Fields<0x40>::at(bytes, 0);
  if (!fields) return stop(Fault::truncated, "Length", 0x40, bytes.size());
  const u64 lowest = fields->get<u64, 0x10>();
  const u64 highest = fields->get<u64, 0x18>();  // -1 when the stream is empty
  const u16 runs_offset = fields->get<u16, 0x20>();
  // An extent ends at or behind its start; adding one wraps -1 to 0.
  if (highest + 1 < lowest || lowest > ~u64{0} >> 1 || (highest + 1) > ~u64{0} >> 1)
    return note(Fault::bad_value, "HighestVcn", lowest, highest);
  attribute.compression_unit = fields->get<u8, 0x22>();
  const bool packed = (attribute.flags & 0x8001) != 0 || attribute.compression_unit != 0;
  // The size on the disk stands in the first extent; some drivers leave room for it in all. ntfs-3g
  // does so for the attribute list of a packed file, which has no such size: the runs then show it.
  const u64 name_size = u64{fields->get<u8, 9>()} * 2;
  const bool has_room = runs_offset == align(0x48 + name_size) && runs_offset <= bytes.size();
  const bool roomy = packed ? lowest == 0 || has_room
                            : has_room && covers(bytes.subspan(runs_offset), highest + 1 - lowest);
  const u64 head = roomy ? 0x48 : 0x40;
  if (runs_offset != align(head + name_size) || runs_offset > bytes.size())
    return note(Fault::bad_value, "RunsOffset", align(head + name_size), runs_offset);
  // Windows leaves room behind mapping pairs that got shorter, but no attribute in it.
  const u64 end = align(runs_offset + trim_runs(bytes.subspan(runs_offset)).size() + 1);
  if (end < bytes.size() && is_attribute(start_ + end))
    note(Fault::bad_value, "Length", end, bytes.size());
  if (!read_name(bytes, head, attribute)) return false;
  attribute.lowest_vcn = lowest;
  attribute.cluster_count = highest + 1 - lowest;
  attribute.allocated_size = fields->get<u64, 0x28>();
  attribute.size = fields->get<u64, 0x30>();
  attribute.valid_size = fields->get<u64, 0x38>();
  attribute.total_allocated.reset();
  if (roomy && packed) attribute.total_allocated = core::load<u64>(bytes, 0x40);
  attribute.runs_offset = start_ + runs_offset;
  attribute.runs = bytes.subspan(runs_offset);
  return true;
}

// Attributes stand in the order of their types. Only links have several of one type and name, and
// streams in pieces, each with a lowest VCN above that of the piece before.
void AttributeReader::check_place(const Attribute& attribute) {
  if (attribute.type != before_.type) {
    if (before_.type != AttributeType::end && attribute.type < before_.type)
      note(Fault::bad_value, "Type", static_cast<u64>(before_.type),
           static_cast<u64>(attribute.type));
    before_.type = attribute.type;
    before_.first = start_;
  } else if (attribute.type != AttributeType::file_name) {
    check_repeated(attribute);
  }
  const u64 bit = u64{1} << attribute.id % 64;
  if ((before_.ids & bit) != 0 && is_id_taken(attribute.id))
    note(Fault::bad_value, "AttributeId", core::not_one_number, attribute.id);
  before_.ids |= bit;
}

// By all attributes of this type before this one.
void AttributeReader::check_repeated(const Attribute& attribute) {
  for (u32 at = before_.first; at < start_; at += length_at(at)) {
    const auto head = *core::Fields<0x18>::at(used_, at);
    const auto name =
        core::slice(used_, at + u64{head.get<u16, 0x0a>()}, u64{head.get<u8, 9>()} * 2);
    if (!name || !std::ranges::equal(*name, attribute.name)) continue;
    const bool resident_before = head.get<u8, 8>() == 0;
    const u64 lowest_before = head.get<u64, 0x10>();
    if (attribute.resident || resident_before || attribute.lowest_vcn <= lowest_before)
      note(Fault::bad_value, "LowestVcn", resident_before ? 1 : lowest_before + 1,
           attribute.resident ? 0 : attribute.lowest_vcn);
  }
}

// By all attributes before this one, whose lengths have been checked.
bool AttributeReader::is_id_taken(u16 id) const {
  for (u32 at = first_; at < start_; at += length_at(at))
    if (core::load<u16>(used_, at + 0x0e) == id) return true;
  return false;
}

// Old volumes have garbage in the upper half of the length.
u32 AttributeReader::length_at(u32 at) const {
  const u32 length = *core::load<u32>(used_, at + 4);
  return length > used_.size() - at ? length & 0xffff : length;
}

}  // namespace coldtrace::ntfs
