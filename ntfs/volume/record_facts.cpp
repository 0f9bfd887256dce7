#include "coldtrace/ntfs/record_facts.hpp"

#include <algorithm>

#include "coldtrace/ntfs/security.hpp"
#include "coldtrace/ntfs/structures/file_record.hpp"

namespace coldtrace::ntfs {
namespace {

// The part of a resident value that is worth keeping.
core::ByteView kept_value(const Attribute& attribute, StoredText name) {
  switch (attribute.type) {
    case AttributeType::attribute_list:
    case AttributeType::object_id:
    case AttributeType::volume_name:
    case AttributeType::volume_information:
    case AttributeType::reparse_point:
    case AttributeType::ea:
      return attribute.value;
    case AttributeType::security_descriptor:
      // The owner; of one that cannot be used the first byte, which is not a SID.
      return find_owner(attribute.value)
          .value_or(attribute.value.first(std::min<u64>(1, attribute.value.size())));
    case AttributeType::index_root:
      if (equals_ascii(name, security_index_name)) return attribute.value;
      [[fallthrough]];
    case AttributeType::bitmap:
      return equals_ascii(name, directory_index_name) ? attribute.value : core::ByteView{};
    default:
      return {};
  }
}

void to_facts(const Attribute& attribute, u64 number, AttributeFacts& facts) {
  facts.type = attribute.type;
  facts.id = attribute.id;
  facts.resident = attribute.resident;
  facts.compressed = attribute.compressed();
  facts.encrypted = attribute.encrypted();
  facts.sparse = attribute.sparse();
  facts.name = to_stored_text(attribute.name);
  facts.record = number;
  if (attribute.resident) {
    facts.size = attribute.value.size();
    facts.value_offset = attribute.value_offset;
    facts.value = kept_value(attribute, facts.name);
    return;
  }
  facts.lowest_vcn = attribute.lowest_vcn;
  facts.cluster_count = attribute.cluster_count;
  if (attribute.lowest_vcn == 0) {
    facts.allocated_size = attribute.allocated_size;
    facts.size = attribute.size;
    facts.valid_size = attribute.valid_size;
    facts.total_allocated = attribute.total_allocated;
  }
  facts.runs_offset = attribute.runs_offset;
  facts.runs = attribute.runs;
}

}  // namespace

bool was_never_used(const RecordFacts& facts) {
  if (facts.in_use || !facts.names.empty()) return false;
  if (!facts.information && facts.attributes.empty()) return true;
  const bool first_use = facts.sequence <= 1 || facts.sequence == facts.record;
  return first_use && !facts.has_list &&
         std::ranges::none_of(facts.attributes, [](const AttributeFacts& attribute) {
           return attribute.type == AttributeType::data && attribute.size > 0;
         });
}

std::optional<core::Name> find_missing(const RecordFacts& facts) {
  if (!facts.in_use || facts.is_extension()) return std::nullopt;
  if (!facts.information) return "$STANDARD_INFORMATION";
  std::vector<StoredText> roots;
  for (const auto& attribute : facts.attributes)
    if (attribute.type == AttributeType::index_root) roots.push_back(attribute.name);
  std::sort(roots.begin(), roots.end());
  for (const auto& attribute : facts.attributes)
    if (attribute.type == AttributeType::index_allocation &&
        !std::binary_search(roots.begin(), roots.end(), attribute.name))
      return "$INDEX_ROOT";
  // $UsnJrnl has named streams only, and files of other indexes than those of names none.
  const bool in_extend = std::ranges::any_of(facts.names, [](const FileName& name) {
    return name.parent.record == static_cast<u64>(SystemRecord::extend);
  });
  const bool has_content =
      std::ranges::any_of(facts.attributes, [](const AttributeFacts& attribute) {
        return attribute.type == AttributeType::data && attribute.name.empty();
      });
  if (facts.directory || in_extend || !roots.empty() || has_content) return std::nullopt;
  return "$DATA";
}

const AttributeFacts* RecordFacts::find(AttributeType type, std::string_view name) const {
  for (const auto& attribute : attributes)
    if (attribute.type == type && attribute.lowest_vcn == 0 && equals_ascii(attribute.name, name))
      return &attribute;
  return nullptr;
}

void RecordFacts::clear() {
  record = 0;
  sequence = 0;
  link_count = 0;
  in_use = directory = bad = torn = damaged = misplaced = beyond_valid = has_list = false;
  base = {};
  information.reset();
  content_size.reset();
  remains_at.reset();
  names.clear();
  attributes.clear();
}

bool is_short_half(const RecordFacts& facts, const FileName& name) {
  return name.name_space == NameSpace::dos &&
         std::ranges::any_of(facts.names, [&](const FileName& other) {
           return other.name_space == NameSpace::win32 && other.parent == name.parent;
         });
}

ShortHalves::ShortHalves(const RecordFacts& facts) {
  const auto is_short = [](const FileName& name) { return name.name_space == NameSpace::dos; };
  if (std::ranges::none_of(facts.names, is_short)) return;
  for (const auto& name : facts.names)
    if (name.name_space == NameSpace::win32) long_names_.push_back(name.parent);
  std::ranges::sort(long_names_);
}

bool ShortHalves::contains(const FileName& name) const {
  return name.name_space == NameSpace::dos && std::ranges::binary_search(long_names_, name.parent);
}

u32 count_links(const RecordFacts& facts) {
  const ShortHalves halves{facts};
  return static_cast<u32>(std::ranges::count_if(
      facts.names, [&](const FileName& name) { return !halves.contains(name); }));
}

core::Result<std::optional<core::ParseError>> read_record_facts(core::ByteView record, u64 number,
                                                                u64 offset, RecordFacts& facts) {
  facts.clear();
  const auto header = COLDTRACE_TRY(read_file_record_header(record, offset));
  facts.record = number;
  facts.sequence = header.sequence;
  facts.link_count = header.link_count;
  facts.in_use = header.in_use;
  facts.directory = header.directory;
  facts.bad = header.bad;
  facts.base = header.base;
  // Records that ntfs-3g prepared and nobody used yet have the number 0.
  facts.misplaced = header.in_use && header.number && *header.number != static_cast<u32>(number);
  std::optional<core::ParseError> damage;
  const auto note = [&](const core::ParseError& error) {
    if (!damage) damage = error;
  };

  AttributeReader in{record, header.first_attribute, header.used_size, offset};
  Attribute attribute{};
  while (in.read(attribute)) {
    const auto value_at = offset + attribute.value_offset;
    if (attribute.type == AttributeType::standard_information && attribute.resident) {
      const auto information = read_standard_information(attribute.value, value_at);
      if (!information) {
        note(information.error());
      } else if (!facts.information) {
        facts.information = *information;
        facts.information->id = attribute.id;
      }
    } else if (attribute.type == AttributeType::file_name && attribute.resident) {
      const auto name = read_file_name(attribute.value, value_at);
      if (name) {
        facts.names.push_back(*name);
        facts.names.back().id = attribute.id;
        facts.names.back().record = number;
      } else {
        note(name.error());
      }
    } else {
      if (attribute.type == AttributeType::attribute_list) facts.has_list = true;
      const bool of_volume = attribute.type == AttributeType::volume_name ||
                             attribute.type == AttributeType::volume_information;
      if (of_volume && number != static_cast<u64>(SystemRecord::volume))
        note({core::Fault::bad_value, offset + attribute.offset, "attribute", "Type", 0,
              static_cast<u64>(attribute.type)});
      to_facts(attribute, number, facts.attributes.emplace_back());
      if (attribute.type == AttributeType::data && attribute.name.empty() && !facts.content_size)
        if (attribute.resident || attribute.lowest_vcn == 0)
          facts.content_size = facts.attributes.back().size;
    }
  }
  if (in.damage()) note(*in.damage());
  facts.remains_at = in.remains();
  // With an attribute list it may be elsewhere.
  if (const auto missing = facts.has_list ? std::nullopt : find_missing(facts))
    note({core::Fault::missing, offset, "FILE record", *missing, 1, 0});
  facts.damaged = damage.has_value();
  return damage;
}

}  // namespace coldtrace::ntfs
