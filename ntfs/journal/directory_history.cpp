#include "coldtrace/ntfs/directory_history.hpp"

#include <algorithm>

#include "coldtrace/ntfs/path_chain.hpp"
#include "coldtrace/ntfs/usn_names.hpp"

namespace coldtrace::ntfs {
namespace {

// More levels than this are a loop, or a path that no program could use.
constexpr std::size_t deepest = 2048;
constexpr std::size_t most_kept = std::size_t{64} << 20;  // bytes of paths

}  // namespace

void DirectoryHistory::start_from(const RecordTable& records) {
  RecordFacts facts;
  for (u64 record = 0; record < records.size(); ++record) {
    if (!records.has(record)) continue;
    const auto summary = records.summary(record);
    if (!summary.directory || summary.extension) continue;
    records.assemble_names(record, facts);
    // A directory has one link; its long name comes before the short one.
    const auto name = std::ranges::find_if(
        facts.names, [](const FileName& n) { return n.name_space != NameSpace::dos; });
    if (name == facts.names.end()) continue;
    // To delete a file counts its sequence number up.
    const auto sequence =
        static_cast<u16>(summary.in_use ? summary.sequence : summary.sequence - 1);
    directories_.insert_or_assign(to_stored({record, sequence}),
                                  Directory{to_stored(name->parent), name_of(name->name, nullptr)});
  }
}

// The number of a name, which is that of `known` where it is the same.
u32 DirectoryHistory::name_of(StoredText text, const Directory* known) {
  scratch_.clear();
  append_utf8(scratch_, text);
  if (known && names_[known->name] == scratch_) return known->name;
  names_.push_back(scratch_);
  return static_cast<u32>(names_.size() - 1);
}

void DirectoryHistory::rewind(const UsnRecord& record, u64 position, bool lossless) {
  if (!record.is_directory() || record.name.empty() || record.file.record == root_record) return;
  const u64 key = to_stored(record.file);
  const auto [found, added] = directories_.try_emplace(key);
  const auto before = found->second;
  const Directory now{to_stored(record.parent), name_of(record.name, added ? nullptr : &before)};
  if (!added && now == before) return;
  found->second = now;
  const bool lasts = added && lossless && (record.reasons & usn_rename_old_name) == 0;
  if (!lasts) changes_.push_back({position, key, before, !added});
  forget_paths();
}

void DirectoryHistory::replay(u64 position) {
  while (!changes_.empty() && changes_.back().position <= position) {
    const auto& change = changes_.back();
    if (change.known)
      directories_[change.directory] = change.before;
    else
      directories_.erase(change.directory);
    changes_.pop_back();
    forget_paths();
  }
}

void DirectoryHistory::forget_paths() {
  paths_.clear();
  paths_size_ = 0;
}

DirectoryHistory::KnownPath DirectoryHistory::read_path(u64 directory) const {
  std::vector<u32> names;
  std::size_t size = 0;
  u64 at = directory;
  constexpr u64 record_bits = (u64{1} << 48) - 1;
  while ((at & record_bits) != root_record && names.size() < deepest && size < longest_path) {
    const auto found = directories_.find(at);
    if (found == directories_.end()) break;
    names.push_back(found->second.name);
    size += names_[found->second.name].size() + 1;
    at = found->second.parent;
    if (at == directory) break;
  }
  KnownPath path{{}, (at & record_bits) == root_record};
  if (!path.whole) path.text = broken_path(to_file_reference(at));
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    path.text += '/';
    path.text += names_[*name];
  }
  return path;
}

DirectoryHistory::Path DirectoryHistory::find(FileReference directory) {
  const u64 key = to_stored(directory);
  auto found = paths_.find(key);
  if (found == paths_.end()) {
    if (paths_size_ > most_kept) forget_paths();
    found = paths_.emplace(key, read_path(key)).first;
    paths_size_ += found->second.text.size();
  }
  return {found->second.text, found->second.whole};
}

}  // namespace coldtrace::ntfs
