#include "coldtrace/tracefile/fields/event_schema.hpp"

#include <algorithm>
#include <bit>

#include "coldtrace/core/utf16.hpp"
#include "tracefile/fields/event_name.hpp"

namespace coldtrace::tracefile {
namespace {

using core::ByteView;
using core::Fault;
using Rule = FieldSchema::Rule;

// Offsets in TRACE_EVENT_INFO.
constexpr std::size_t fixed_size = 112;
constexpr std::size_t property_size = 24;
constexpr std::size_t longest_name = 4096;  // bytes

// Flags of EVENT_PROPERTY_INFO.
constexpr u32 structure_property = 0x1;
constexpr u32 length_from_property = 0x2;
constexpr u32 count_from_property = 0x4;
constexpr u32 fixed_length_property = 0x10;
constexpr u32 fixed_count_property = 0x20;

constexpr u32 decoding_by_wbem = 1;

// Flags of EVENT_MAP_INFO. Source: Windows SDK tdh.h, MAP_FLAGS.
constexpr u32 manifest_bit_map = 0x2;
constexpr u32 pattern_map = 0x4;
constexpr u32 wbem_bit_map = 0x10;
constexpr u32 wbem_flag = 0x20;
constexpr u32 wbem_no_map = 0x40;
constexpr u32 map_of_numbers = 0;  // MAP_VALUETYPE

// Units at an offset of the blob.
ByteView units_at(ByteView blob, u32 offset) {
  if (offset == 0 || offset >= blob.size()) return {};
  const auto bytes = blob.subspan(offset);
  return core::until_nul_unit(bytes.first(std::min(bytes.size(), longest_name) & ~std::size_t{1}));
}

// Text at an offset of the blob; names of tasks and opcodes may end in a blank.
std::string text_at(ByteView blob, u32 offset) {
  auto text = core::decode_utf16(units_at(blob, offset)).utf8;
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

class SchemaReader {
 public:
  SchemaReader(ByteView blob, u64 offset) : blob_{blob}, offset_{offset} {}

  core::Result<EmbeddedSchema> read() {
    const auto header = core::Fields<fixed_size>::at(blob_, 0);
    if (!header) return core::fail(error(Fault::truncated, 0, "size", fixed_size, blob_.size()));
    const bool classic = header->get<u32, 48>() == decoding_by_wbem;
    EmbeddedSchema found;
    found.provider = core::to_guid(header->bytes<0, 16>());
    found.key.provider = core::to_guid(classic ? header->bytes<16, 16>() : header->bytes<0, 16>());
    found.key.id = classic ? u16{header->get<u8, 37>()} : header->get<u16, 32>();
    found.key.version = header->get<u8, 34>();
    found.key.classic = classic;
    found.schema.provider_name = text_at(blob_, header->get<u32, 52>());
    found.schema.event_name = event_name_of(text_at(blob_, header->get<u32, 68>()),
                                            text_at(blob_, header->get<u32, 72>()));
    found.schema.message = text_at(blob_, header->get<u32, 76>());
    if (!classic) read_names(*header, found.names);
    properties_ = header->get<u32, 100>();
    const auto top_level = header->get<u32, 104>();
    if (properties_ > most_fields || u64{properties_} * property_size > blob_.size() - fixed_size)
      return core::fail(error(Fault::truncated, 100, "PropertyCount",
                              (blob_.size() - fixed_size) / property_size, properties_));
    if (top_level > properties_)
      return core::fail(
          error(Fault::bad_value, 104, "TopLevelPropertyCount", properties_, top_level));
    mark_references();
    path_.clear();
    if (!read_range(found, found.schema.fields, 0, top_level)) return core::fail(error_);
    found.schema.slots = static_cast<u16>(slots_);
    return found;
  }

 private:
  core::Fields<property_size> property(std::size_t index) const {
    return *core::Fields<property_size>::at(blob_, fixed_size + index * property_size);
  }

  // An EVENT_DESCRIPTOR at 32 has the numbers, the offsets at 56 their names.
  void read_names(const core::Fields<fixed_size>& header, ProviderNames& names) const {
    const auto add = [&](std::vector<ProviderNames::Name>& into, u64 number, u32 offset) {
      if (auto text = text_at(blob_, offset); !text.empty())
        into.push_back({number, std::string{without_prefix(text)}});
    };
    const u64 task = header.get<u16, 38>();
    add(names.levels, header.get<u8, 36>(), header.get<u32, 56>());
    add(names.channels, header.get<u8, 35>(), header.get<u32, 60>());
    if (task != 0) add(names.tasks, task, header.get<u32, 68>());
    add(names.opcodes, u64{header.get<u8, 37>()} << 16 | task, header.get<u32, 72>());
    read_keywords(header.get<u64, 40>(), header.get<u32, 64>(), names.keywords);
  }

  // A list of texts that ends with an empty one, in the order of the bits. Whether the predefined
  // ones of bits 48 and more are among them is seen by their number.
  void read_keywords(u64 mask, u32 offset, std::vector<ProviderNames::Name>& keywords) const {
    std::vector<std::string> texts;
    for (u64 at = offset; at != 0 && texts.size() < 64;) {
      if (at + 2 > blob_.size()) return;
      const auto rest = blob_.subspan(static_cast<std::size_t>(at));
      const auto text = core::until_nul_unit(rest.first(std::min(rest.size(), longest_name)));
      if (text.empty()) break;
      texts.push_back(text_at(blob_, static_cast<u32>(at)));
      at += text.size() + 2;
    }
    for (const unsigned bits : {48U, 56U}) {
      auto left = mask & ((u64{1} << bits) - 1);
      if (texts.size() != static_cast<std::size_t>(std::popcount(left))) continue;
      for (const auto& text : texts) {
        keywords.push_back({left & (~left + 1), std::string{without_prefix(text)}});
        left &= left - 1;
      }
      return;
    }
  }

  // Properties that give a length or count get a slot.
  void mark_references() {
    slot_of_.assign(properties_, 0);
    const auto mark = [&](u16 index) {
      if (index >= properties_ || slot_of_[index] != 0) return;
      if (slots_ < EventSchema::largest_slot) slot_of_[index] = static_cast<u16>(++slots_);
    };
    for (u32 i = 0; i < properties_; ++i) {
      const auto in = property(i);
      const auto flags = in.get<u32, 0>();
      if ((flags & count_from_property) != 0) mark(in.get<u16, 16>());
      if ((flags & length_from_property) != 0) mark(in.get<u16, 18>());
    }
  }

  FieldSchema::Amount reference(u16 index) const {
    if (index >= properties_) return {Rule::fixed, 0};
    return {Rule::slot, slot_of_[index]};
  }

  bool read_range(EmbeddedSchema& found, std::vector<FieldSchema>& into, u32 first, u32 count) {
    if (path_.size() >= deepest_structure) return reject("structure", deepest_structure, count);
    for (u32 i = first; i < first + count; ++i) {
      if (++fields_ > most_fields) return reject("fields", most_fields, fields_);
      path_.push_back(static_cast<u16>(into.size()));
      FieldSchema field;
      if (!read_property(found, field, i)) return false;
      into.push_back(std::move(field));
      path_.pop_back();
    }
    return true;
  }

  bool read_property(EmbeddedSchema& found, FieldSchema& field, u32 index) {
    const auto in = property(index);
    const auto flags = in.get<u32, 0>();
    field.name = text_at(blob_, in.get<u32, 4>());
    field.slot = slot_of_[index];
    if ((flags & count_from_property) != 0) {
      field.count = reference(in.get<u16, 16>());
    } else if (in.get<u16, 16>() > 1 || (flags & fixed_count_property) != 0) {
      field.count = {Rule::fixed, in.get<u16, 16>()};
    }
    if ((flags & structure_property) != 0) {
      field.in = InType::structure;
      const u32 first = in.get<u16, 8>();
      const u32 members = in.get<u16, 10>();
      // Members come after all that refers to them, which rules out circles.
      if (first <= index || first + members > properties_)
        return reject("StructStartIndex", properties_, first);
      return read_range(found, field.members, first, members);
    }
    field.in = static_cast<InType>(in.get<u16, 8>());
    field.out = static_cast<OutType>(in.get<u16, 10>());
    const auto length = in.get<u16, 18>();
    if ((flags & length_from_property) != 0) {
      field.length = reference(length);
    } else if (has_length(field.in) && ((flags & fixed_length_property) != 0 || length > 0)) {
      field.length = {Rule::fixed, length};
    }
    if (in.get<u32, 12>() != 0)
      found.map_uses.push_back({path_, core::decode_exact(units_at(blob_, in.get<u32, 12>()))});
    return true;
  }

  static bool has_length(InType type) {
    return type == InType::utf16 || type == InType::ansi || type == InType::binary;
  }

  core::ParseError error(Fault fault, u64 at, core::Name field, u64 expected, u64 found) const {
    return {fault, offset_ + at, "TRACE_EVENT_INFO", field, expected, found};
  }

  bool reject(core::Name field, u64 expected, u64 found) {
    error_ = error(Fault::bad_value, fixed_size, field, expected, found);
    return false;
  }

  ByteView blob_;
  u64 offset_;
  u32 properties_ = 0;
  std::vector<u16> slot_of_;
  std::vector<u16> path_;
  std::size_t slots_ = 0;
  std::size_t fields_ = 0;
  core::ParseError error_{Fault::bad_value, 0, "TRACE_EVENT_INFO", "", 0, 0};
};

}  // namespace

std::optional<SchemaKey> outside_key_of(const Event& event) {
  if (event.event_class == EventClass::manifest && !event.trace_logging)
    return SchemaKey{event.provider, event.id, event.version};
  if (event.event_class == EventClass::message)
    return SchemaKey{event.provider, event.id, 0, false, true};
  return std::nullopt;
}

core::Result<EmbeddedSchema> read_event_schema(ByteView blob, u64 offset) {
  return SchemaReader{blob, offset}.read();
}

core::Result<EmbeddedMap> read_event_map(ByteView blob, u64 offset) {
  core::Reader in{blob, "EVENT_MAP_INFO", offset};
  EmbeddedMap found{core::to_guid(in.take(16, "ProviderGuid")), {}, {}};
  const auto name = in.read_u32("NameOffset");
  const auto flag = in.read_u32("Flag");
  const auto at = in.offset();
  const auto count = in.read_u32("EntryCount");
  const auto value_type = in.read_u32("MapEntryValueType");
  if (!in.ok()) return core::fail(in.error());
  if (u64{count} * 8 > in.remaining())
    in.reject(Fault::truncated, at, "EntryCount", in.remaining() / 8, count);
  const auto names = blob.subspan(16);
  found.exact_name = core::decode_exact(units_at(names, name));
  found.map.name = text_at(names, name);
  found.map.bits = (flag & (manifest_bit_map | wbem_bit_map | wbem_flag)) != 0;
  if (value_type != map_of_numbers || (flag & (pattern_map | wbem_no_map)) != 0) return found;
  std::size_t text_bytes = 0;
  for (u32 i = 0; i < count && in.ok(); ++i) {
    const auto text = in.read_u32("OutputOffset");
    found.map.entries.push_back({in.read_u32("Value"), text_at(names, text)});
    text_bytes += found.map.entries.back().text.size();
    // In UTF-8 a unit takes three bytes at most; more are texts that overlap.
    if (text_bytes > 2 * names.size())
      in.reject(Fault::bad_value, at, "OutputOffset", names.size(), text_bytes);
  }
  found.map.sort();
  return in.finish(std::move(found));
}

}  // namespace coldtrace::tracefile
