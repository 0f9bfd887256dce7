#include "coldtrace/ntfs/journal/directory_history.hpp"

#include <algorithm>

#include "coldtrace/ntfs/journal/usn_names.hpp"
#include "coldtrace/ntfs/path_chain.hpp"

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
    if (summary.in_use && facts.information && !facts.damaged && !facts.torn)
      newest_usn_ = std::max(newest_usn_, facts.information->usn.value_or(0));
    // A directory has one link; its long name comes before the short one.
    const auto name = std::ranges::find_if(
        facts.names, [](const FileName& n) { return n.name_space != NameSpace::dos; });
    if (name == facts.names.end()) continue;
    // To delete a file counts its sequence number up.
    const auto sequence =
        static_cast<u16>(summary.in_use ? summary.sequence : summary.sequence - 1);
    directories_[to_stored({record, sequence})].value = {to_stored(name->parent),
                                                         name_of(name->name, nullptr)};
  }
}

// The number of a name, which is that of `known` where it is the same.
u32 DirectoryHistory::name_of(StoredText text, const Directory* known) {
  scratch_.clear();
  append_exact(scratch_, text);
  if (known && names_[known->name] == scratch_) return known->name;
  names_.push_back(scratch_);
  return static_cast<u32>(names_.size() - 1);
}

void DirectoryHistory::rewind(const UsnRecord& record, u64 position, bool lossless) {
  if (!record.is_directory() || record.name.empty() || record.file.record == root_record) return;
  const u64 key = to_stored(record.file);
  const auto [found, added] = directories_.try_emplace(key);
  const auto before = found->second.value;
  const Directory now{to_stored(record.parent), name_of(record.name, added ? nullptr : &before)};
  if (!added && now == before) return;
  found->second.value = now;
  const bool lasts = added && lossless && (record.reasons & usn_rename_old_name) == 0;
  if (!lasts) changes_.push_back({position, key, before, !added});
  ++age_;
}

void DirectoryHistory::replay(u64 position) {
  for (; !changes_.empty() && changes_.back().position <= position; changes_.pop_back()) {
    const auto& change = changes_.back();
    const auto found = directories_.find(change.directory);
    if (found == directories_.end() || found->second.used == age_) ++age_;
    if (change.known)
      directories_[change.directory].value = change.before;
    else
      directories_.erase(change.directory);
  }
}

const DirectoryHistory::KnownPath* DirectoryHistory::kept_path(u64 directory) const {
  const auto found = paths_.find(directory);
  return found == paths_.end() || found->second.age != age_ ? nullptr : &found->second;
}

// What is known of a directory above is taken where the way through all of them would reach the
// root as well.
void DirectoryHistory::read_path(u64 directory, KnownPath& path) {
  constexpr u64 record_bits = (u64{1} << 48) - 1;
  const KnownPath* above = nullptr;
  levels_.clear();
  std::size_t size = 0;
  u64 at = directory;
  while ((at & record_bits) != root_record && levels_.size() < deepest && size < longest_path) {
    const auto* const kept = at == directory ? nullptr : kept_path(at);
    if (kept && kept->whole && levels_.size() + kept->levels <= deepest &&
        size + kept->text.size() <= longest_path) {
      above = kept;
      break;
    }
    const auto found = directories_.find(at);
    if (found == directories_.end()) break;
    auto& [value, used] = found->second;
    used = age_;
    levels_.push_back(value.name);
    size += names_[value.name].size() + 1;
    at = value.parent;
    if (at == directory) break;
  }
  path.whole = above != nullptr || (at & record_bits) == root_record;
  path.levels = levels_.size() + (above ? above->levels : 0);
  path.age = age_;
  path.text.clear();
  if (above)
    path.text = above->text;
  else if (!path.whole)
    path.text = broken_path(to_file_reference(at));
  for (auto name = levels_.rbegin(); name != levels_.rend(); ++name) {
    path.text += '/';
    path.text += names_[*name];
  }
}

DirectoryHistory::Path DirectoryHistory::find(FileReference directory) {
  const u64 key = to_stored(directory);
  if (last_path_ == nullptr || last_key_ != key || last_path_->age != age_) {
    if (paths_size_ > most_kept) {
      paths_.clear();
      paths_size_ = 0;
    }
    const auto [found, added] = paths_.try_emplace(key);
    auto& path = found->second;
    if (path.age != age_) {
      const auto room = added ? 0 : sizeof(KnownPath) + path.text.capacity();
      read_path(key, path);
      paths_size_ += sizeof(KnownPath) + path.text.capacity() - room;
    }
    last_key_ = key;
    last_path_ = &path;
  }
  return {last_path_->text, last_path_->whole};
}

}  // namespace coldtrace::ntfs
