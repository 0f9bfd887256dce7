#include "ntfs/snapshot/slack_copies.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"

namespace coldtrace::ntfs {

void drop_listed_slack(const DirectoryTable& table, const RecordTable& records,
                       std::vector<SlackName>& names) {
  using Key = std::tuple<u64, std::string, u64>;
  const auto read_key = [&](const SlackName& slack) -> std::optional<Key> {
    const auto entry = NodeReader{table.node(slack.piece)}.next();
    if (!entry || !entry->named || entry->facts.file_known) return std::nullopt;
    return Key{slack.directory, to_utf16_hex(entry->name), entry->times.created.ticks};
  };
  std::set<Key> without_file;
  for (const auto& slack : names)
    if (auto key = read_key(slack)) without_file.insert(std::move(*key));
  if (without_file.empty()) return;
  std::set<Key> listed;
  RecordFacts facts;
  for (u64 record = 0; record < records.size(); ++record) {
    if (!records.has(record)) continue;
    const auto summary = records.summary(record);
    if (!summary.in_use || summary.extension) continue;
    records.assemble_names(record, facts);
    for (const auto& name : facts.names) {
      const auto created =
          facts.information ? facts.information->times.created : name.times.created;
      Key key{name.parent.record, to_utf16_hex(name.name), created.ticks};
      if (without_file.contains(key)) listed.insert(std::move(key));
    }
  }
  std::erase_if(names, [&](const SlackName& slack) {
    const auto key = read_key(slack);
    return key && listed.contains(*key);
  });
}

void merge_slack_copies(const DirectoryTable& table, std::vector<SlackName>& names) {
  std::map<std::string, u32> by_name;
  std::map<std::string, u32> by_file;
  std::vector<SlackName> kept;
  for (const bool known : {true, false}) {
    for (const auto& name : names) {
      const auto entry = NodeReader{table.node(name.piece)}.next();
      if (!entry || !entry->named || entry->facts.file_known != known) continue;
      std::string key{core::to_chars(entry->name.bytes)};
      const auto add = [&](u64 value) { key += fmt::format("|{}", value); };
      for (const u64 value : {u64{name.directory}, u64{entry->name.narrow}, entry->facts.size,
                              entry->times.created.ticks, entry->times.modified.ticks,
                              entry->times.changed.ticks, entry->times.accessed.ticks})
        add(value);
      const auto next = static_cast<u32>(kept.size());
      const auto first = by_name.try_emplace(key, next);
      if (known) {
        add(entry->file.record);
        add(entry->file.sequence);
      }
      const auto [same, added] = known ? by_file.try_emplace(key, next) : first;
      if (added)
        kept.push_back(name);
      else
        ++kept[same->second].copies;
    }
  }
  std::ranges::sort(kept, {}, &SlackName::offset);
  names = std::move(kept);
}

}  // namespace coldtrace::ntfs
