#include "coldtrace/ntfs/assembly.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "coldtrace/ntfs/attribute_list.hpp"

namespace coldtrace::ntfs {
namespace {

// Every row of a file goes through all of its names.
constexpr std::size_t most_names = 4 * most_links;

// What an attribute list names; the entries view its bytes.
struct Listed {
  std::vector<std::byte> bytes;
  std::vector<AttributeListEntry> entries;
};

Listed read_list(const core::ImageSource& image, const Mft& mft, const RecordFacts& base,
                 Assembly& result) {
  Listed listed;
  const auto* attribute = base.find(AttributeType::attribute_list);
  if (attribute && !attribute->resident && mft.extracted()) {
    result.list_out_of_reach = true;
    return listed;
  }
  auto list = read_attribute_list_value(image, mft.clusters(), base);
  if (!attribute || !list) {
    result.list_damaged = true;
    return listed;
  }
  listed.bytes = std::move(*list);
  AttributeListReader entries{listed.bytes, 0};
  while (const auto entry = entries.next()) listed.entries.push_back(*entry);
  result.list_damaged = entries.damage().has_value();
  return listed;
}

// What tells the attributes of one file apart, but for the names of two with one id.
struct AttributeKey {
  u64 record;
  AttributeType type;
  u16 id;
  u64 lowest_vcn;
  StoredText name;

  auto place() const { return std::tuple{record, type, id, lowest_vcn}; }
};

// All attributes but $STANDARD_INFORMATION, of which nothing but its value is kept.
std::vector<AttributeKey> sorted_keys(const RecordFacts& facts) {
  std::vector<AttributeKey> keys;
  for (const auto& attribute : facts.attributes)
    keys.push_back(
        {attribute.record, attribute.type, attribute.id, attribute.lowest_vcn, attribute.name});
  for (const auto& name : facts.names)
    keys.push_back({name.record, AttributeType::file_name, name.id, 0, {}});
  std::ranges::sort(keys, {}, &AttributeKey::place);
  return keys;
}

// The first entry of a list that leads to a record in `joined`, and to nothing there.
std::optional<Assembly::Absent> find_absent(const Listed& listed, const RecordFacts& facts,
                                            const std::set<u64>& joined) {
  const auto keys = sorted_keys(facts);
  for (const auto& entry : listed.entries) {
    if (!joined.contains(entry.record.record)) continue;
    if (entry.type == AttributeType::standard_information && facts.information) continue;
    const AttributeKey wanted{entry.record.record, entry.type, entry.id, entry.lowest_vcn,
                              to_stored_text(entry.name)};
    const auto [first, last] = std::equal_range(
        keys.begin(), keys.end(), wanted,
        [](const AttributeKey& a, const AttributeKey& b) { return a.place() < b.place(); });
    if (std::none_of(first, last, [&](const auto& key) { return key.name == wanted.name; }))
      return Assembly::Absent{entry.type, entry.record.record};
  }
  return std::nullopt;
}

void append(const RecordFacts& extension, RecordFacts& facts, Assembly& result) {
  const auto room = most_names - std::min(most_names, facts.names.size());
  const auto taken = std::min(room, extension.names.size());
  result.names_left_out = result.names_left_out || taken < extension.names.size();
  facts.names.insert(facts.names.end(), extension.names.begin(),
                     extension.names.begin() + static_cast<std::ptrdiff_t>(taken));
  facts.attributes.insert(facts.attributes.end(), extension.attributes.begin(),
                          extension.attributes.end());
  if (!facts.content_size) facts.content_size = extension.content_size;
  facts.torn = facts.torn || extension.torn;
  facts.damaged = facts.damaged || extension.damaged;
}

}  // namespace

bool belongs_to(const RecordFacts& extension, const RecordFacts& base) {
  if (extension.base.record != base.record || extension.in_use != base.in_use) return false;
  const auto sequence = extension.base.sequence;
  return sequence == base.sequence ||
         (!base.in_use && static_cast<u16>(sequence + 1) == base.sequence);
}

Assembly assemble_file(const core::ImageSource& image, const Mft& mft,
                       std::optional<std::span<const u32>> claims, const LoadRecord& load,
                       RecordFacts& facts) {
  Assembly result;
  if (!facts.has_list) return result;
  const auto list = read_list(image, mft, facts, result);
  std::set<u64> listed;
  for (const auto& entry : list.entries)
    if (entry.record.record != facts.record) listed.insert(entry.record.record);
  std::set<u64> joined{facts.record};
  // Without a sound list the extension records speak for themselves.
  const bool sound = !result.list_damaged && !result.list_out_of_reach;
  std::vector<u64> candidates;
  if (claims) {
    candidates.assign(claims->begin(), claims->end());
  } else {
    candidates.assign(listed.begin(), listed.end());
  }
  RecordFacts extension;
  for (const u64 candidate : candidates) {
    if (!load(candidate, extension) || !belongs_to(extension, facts)) continue;
    if (listed.erase(candidate) == 0 && sound) {
      result.extension_unlisted = true;
      continue;
    }
    append(extension, facts, result);
    joined.insert(candidate);
  }
  if (sound && !listed.empty()) {
    result.extension_missing = true;
    result.missing = *listed.begin();
  }
  if (sound && !result.names_left_out) result.absent = find_absent(list, facts, joined);
  return result;
}

}  // namespace coldtrace::ntfs
