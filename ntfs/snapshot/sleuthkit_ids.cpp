#include "coldtrace/ntfs/sleuthkit_ids.hpp"

#include <algorithm>

#include "coldtrace/ntfs/structures/attribute_list.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr std::size_t most_known = 255;  // the others keep the id that is stored

}  // namespace

SleuthKitIds SleuthKitIds::of(const Snapshot& snapshot, const FileRow& row) {
  const auto* attribute = row.facts.find(AttributeType::attribute_list);
  const auto& mft = snapshot.volume().mft();
  if (!attribute || (!attribute->resident && mft.extracted())) return {};
  auto list = read_attribute_list_value(snapshot.volume().image(), mft.clusters(), row.facts);
  return list ? SleuthKitIds{row.facts.record, attribute->id, std::move(*list)} : SleuthKitIds{};
}

SleuthKitIds::SleuthKitIds(u64 base, u16 list_id, std::vector<std::byte> list)
    : base_{base}, list_{std::move(list)} {
  u16 largest = list_id;
  std::vector<bool> extends;
  AttributeListReader entries{list_, 0};
  while (const auto entry = entries.next()) {
    largest = std::max(largest, entry->id);
    const auto name = to_stored_text(entry->name);
    const auto same = [&](const Known& known) {
      return known.type == entry->type && known.name == name;
    };
    if (known_.size() == most_known || std::ranges::any_of(known_, same)) continue;
    known_.push_back({entry->type, name, 0});
    extends.push_back(entry->record.record != base);
  }
  for (std::size_t i = 0; i < known_.size(); ++i)
    if (extends[i]) known_[i].id = ++largest;
}

void SleuthKitIds::rename(const std::function<StoredText(StoredText)>& rename) {
  for (auto& known : known_) known.name = rename(known.name);
}

u16 SleuthKitIds::find(AttributeType type, StoredText name, u64 record, u16 stored_id) const {
  if (record == base_) return stored_id;
  const auto found = std::ranges::find_if(
      known_, [&](const Known& known) { return known.type == type && known.name == name; });
  return found == known_.end() ? stored_id : found->id;
}

}  // namespace coldtrace::ntfs
