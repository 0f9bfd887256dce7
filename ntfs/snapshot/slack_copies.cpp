#include "ntfs/snapshot/slack_copies.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"

namespace coldtrace::ntfs {

namespace {

// What tells whether two entries are the same name: the file, or where its number is overwritten
// the time of creation.
using Key = std::tuple<u64, std::string, bool, u64>;

Key key_of(u64 directory, StoredText name, FileReference file) {
  return {directory, to_utf16_hex(name), true, file.record << 16 | file.sequence};
}

Key key_of(u64 directory, StoredText name, core::FileTime created) {
  return {directory, to_utf16_hex(name), false, created.ticks};
}

std::optional<Key> key_of(const DirectoryTable& table, const SlackName& slack) {
  const auto entry = NodeReader{table.node(slack.piece)}.next();
  if (!entry || !entry->named) return std::nullopt;
  return entry->facts.file_known ? key_of(slack.directory, entry->name, entry->file)
                                 : key_of(slack.directory, entry->name, entry->times.created);
}

// Calls `visit` with what a node lists that the record of the file does not have, or not among the
// names that are taken of it.
template <class Visit>
void visit_unlisted(const DirectoryTable& table, u32 piece, Visit visit) {
  if (piece == Arena::none) return;
  NodeReader node{table.node(piece)};
  while (const auto entry = node.next())
    if (entry->named && entry->match == EntryMatch::unlisted) visit(*entry);
}

}  // namespace

void drop_listed_slack(const DirectoryTable& table, const RecordTable& records,
                       std::vector<SlackName>& names) {
  std::set<Key> wanted;
  std::set<u64> directories;
  bool without_file = false;
  for (const auto& slack : names) {
    auto key = key_of(table, slack);
    if (!key) continue;
    without_file |= !std::get<2>(*key);
    directories.insert(slack.directory);
    wanted.insert(std::move(*key));
  }
  std::set<Key> listed;
  const auto add = [&](Key key) {
    if (wanted.contains(key)) listed.insert(std::move(key));
  };
  for (const u64 record : directories) {
    const auto* directory = table.find(record);
    if (!directory) continue;
    const auto add_entry = [&](const NodeEntry& entry) {
      add(key_of(record, entry.name, entry.file));
      add(key_of(record, entry.name, entry.times.created));
    };
    visit_unlisted(table, directory->root, add_entry);
    for (u64 number = 0; number < directory->buffer_count; ++number)
      visit_unlisted(table, table.buffer(*directory, number), add_entry);
  }
  RecordFacts facts;
  for (u64 record = 0; without_file && record < records.size(); ++record) {
    if (!records.has(record)) continue;
    const auto summary = records.summary(record);
    if (!summary.in_use || summary.extension) continue;
    records.assemble_names(record, facts);
    for (const auto& name : facts.names)
      add(key_of(name.parent.record, name.name,
                 facts.information ? facts.information->times.created : name.times.created));
  }
  std::erase_if(names, [&](const SlackName& slack) {
    const auto key = key_of(table, slack);
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
