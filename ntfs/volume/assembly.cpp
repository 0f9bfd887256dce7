#include "coldtrace/ntfs/assembly.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "coldtrace/ntfs/structures/attribute_list.hpp"

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
                 u64 most_bytes, Assembly& result) {
  Listed listed;
  const auto* attribute = base.find(AttributeType::attribute_list);
  if (attribute && !attribute->resident && mft.extracted()) {
    result.list_out_of_reach = true;
    return listed;
  }
  if (attribute_list_size(base) > most_bytes) {
    result.list_left_out = true;
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

// What tells the attributes of one file apart.
struct AttributeKey {
  u64 record;
  AttributeType type;
  u16 id;
  u64 lowest_vcn;
  StoredText name;

  auto place() const { return std::tuple{record, type, id, lowest_vcn}; }
  friend bool operator<(const AttributeKey& a, const AttributeKey& b) {
    return a.place() != b.place() ? a.place() < b.place() : a.name < b.name;
  }
};

// Of all attributes but the list itself, which does not name itself.
std::vector<AttributeKey> sorted_keys(const RecordFacts& facts) {
  std::vector<AttributeKey> keys;
  if (facts.information)
    keys.push_back(
        {facts.record, AttributeType::standard_information, facts.information->id, 0, {}});
  for (const auto& attribute : facts.attributes)
    if (attribute.type != AttributeType::attribute_list)
      keys.push_back(
          {attribute.record, attribute.type, attribute.id, attribute.lowest_vcn, attribute.name});
  for (const auto& name : facts.names)
    keys.push_back({name.record, AttributeType::file_name, name.id, 0, {}});
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<AttributeKey> sorted_keys(const Listed& listed) {
  std::vector<AttributeKey> keys;
  for (const auto& entry : listed.entries)
    keys.push_back(
        {entry.record.record, entry.type, entry.id, entry.lowest_vcn, to_stored_text(entry.name)});
  std::sort(keys.begin(), keys.end());
  return keys;
}

// The first of `keys` in one of the `records` that `others` do not have.
std::optional<Assembly::Place> find_odd(const std::vector<AttributeKey>& keys,
                                        const std::vector<AttributeKey>& others,
                                        const std::map<u64, u16>& records) {
  for (const auto& key : keys)
    if (records.contains(key.record) && !std::binary_search(others.begin(), others.end(), key))
      return Assembly::Place{key.type, key.record};
  return std::nullopt;
}

// The first of sorted keys that is there again.
std::optional<Assembly::Place> find_repeated(const std::vector<AttributeKey>& keys) {
  const auto found = std::adjacent_find(keys.begin(), keys.end(),
                                        [](const auto& a, const auto& b) { return !(a < b); });
  if (found == keys.end()) return std::nullopt;
  return Assembly::Place{found->type, found->record};
}

// `sequences`: of the file's records. A deleted record has the next one.
std::optional<Assembly::OtherUse> find_other_use(const Listed& listed, bool in_use,
                                                 const std::map<u64, u16>& sequences) {
  for (const auto& entry : listed.entries) {
    const auto record = sequences.find(entry.record.record);
    if (record == sequences.end() || record->second == entry.record.sequence) continue;
    if (in_use || static_cast<u16>(entry.record.sequence + 1) != record->second)
      return Assembly::OtherUse{entry.record, record->second};
  }
  return std::nullopt;
}

}  // namespace

u64 attribute_list_size(const RecordFacts& base) {
  const auto* list = base.find(AttributeType::attribute_list);
  return list ? std::min(list->size, largest_attribute_list) : 0;
}

void join(const RecordFacts& extension, RecordFacts& facts, Assembly& assembly) {
  const auto room = most_names - std::min(most_names, facts.names.size());
  const auto taken = std::min(room, extension.names.size());
  assembly.names_left_out = assembly.names_left_out || taken < extension.names.size();
  facts.names.insert(facts.names.end(), extension.names.begin(),
                     extension.names.begin() + static_cast<std::ptrdiff_t>(taken));
  facts.attributes.insert(facts.attributes.end(), extension.attributes.begin(),
                          extension.attributes.end());
  if (!facts.content_size) facts.content_size = extension.content_size;
  facts.torn = facts.torn || extension.torn;
  facts.damaged = facts.damaged || extension.damaged;
}

bool belongs_to(const RecordFacts& extension, const RecordFacts& base) {
  if (extension.base.record != base.record || extension.in_use != base.in_use) return false;
  const auto sequence = extension.base.sequence;
  return sequence == base.sequence ||
         (!base.in_use && static_cast<u16>(sequence + 1) == base.sequence);
}

Assembly assemble_file(const core::ImageSource& image, const Mft& mft,
                       std::optional<std::span<const u32>> claims, const LoadRecord& load,
                       RecordFacts& facts, u64 most_bytes) {
  Assembly result;
  if (!facts.has_list) return result;
  const auto list = read_list(image, mft, facts, most_bytes, result);
  std::set<u64> listed;
  for (const auto& entry : list.entries)
    if (entry.record.record != facts.record) listed.insert(entry.record.record);
  std::map<u64, u16> sequences{{facts.record, facts.sequence}};
  const bool sound = !result.list_damaged && !result.list_out_of_reach && !result.list_left_out;
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
    join(extension, facts, result);
    result.joined.push_back(candidate);
    sequences.emplace(candidate, extension.sequence);
  }
  if (sound && !listed.empty()) {
    result.extension_missing = true;
    result.missing = *listed.begin();
  }
  if (sound && !result.names_left_out) {
    const auto keys = sorted_keys(facts);
    const auto named = sorted_keys(list);
    result.absent = find_odd(named, keys, sequences);
    result.unlisted = find_odd(keys, named, sequences);
    result.repeated = find_repeated(named);
    result.other_use = find_other_use(list, facts.in_use, sequences);
  }
  result.lacking = find_missing(facts);
  return result;
}

}  // namespace coldtrace::ntfs
