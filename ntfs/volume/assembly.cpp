#include "coldtrace/ntfs/assembly.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "coldtrace/ntfs/attribute_list.hpp"

namespace coldtrace::ntfs {
namespace {

// Every row of a file goes through all of its names.
constexpr std::size_t most_names = 4 * most_links;

// The records that the attribute list of `base` names, without its own.
std::set<u64> read_listed_records(const core::ImageSource& image, const Mft& mft,
                                  const RecordFacts& base, Assembly& result) {
  std::set<u64> records;
  const auto* attribute = base.find(AttributeType::attribute_list);
  if (attribute && !attribute->resident && mft.extracted()) {
    result.list_out_of_reach = true;
    return records;
  }
  const auto list = read_attribute_list_value(image, mft.clusters(), base);
  if (!attribute || !list) {
    result.list_damaged = true;
    return records;
  }
  AttributeListReader entries{*list, 0};
  while (const auto entry = entries.next())
    if (entry->record.record != base.record) records.insert(entry->record.record);
  result.list_damaged = entries.damage().has_value();
  return records;
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
  auto listed = read_listed_records(image, mft, facts, result);
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
  }
  if (sound && !listed.empty()) {
    result.extension_missing = true;
    result.missing = *listed.begin();
  }
  return result;
}

}  // namespace coldtrace::ntfs
