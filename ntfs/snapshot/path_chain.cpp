#include "coldtrace/ntfs/path_chain.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace coldtrace::ntfs {
namespace {

// More levels than this are a loop, or a path that no program could use.
constexpr std::size_t deepest = 2048;

}  // namespace

std::string broken_path(FileReference directory) {
  return fmt::format("/<parent {}-{}>", directory.record, directory.sequence);
}

// What the name of a directory says, which may be in an extension record.
PathChain::Parent PathChain::read_parent(u64 directory) {
  records_.assemble_names(directory, facts_);
  // A directory has one link; its long name comes before the short one.
  const auto name = std::ranges::find_if(
      facts_.names, [](const FileName& n) { return n.name_space != NameSpace::dos; });
  if (name == facts_.names.end()) return {};
  return {name->parent, name->name, true, facts_.in_use};
}

PathChain::Parent PathChain::parent_of(FileReference directory) {
  if (!records_.has(directory.record)) return {};
  const auto summary = records_.summary(directory.record);
  if (!summary.directory || summary.extension) return {};
  const bool same = directory.sequence == 0 || summary.sequence == directory.sequence;
  const bool deleted_since =
      !summary.in_use && summary.sequence == static_cast<u16>(directory.sequence + 1);
  if (!same && !deleted_since) return {};
  if (!summary.several_links) return read_parent(directory.record);
  const auto known = joined_.find(directory.record);
  if (known != joined_.end()) return known->second;
  return joined_.emplace(directory.record, read_parent(directory.record)).first->second;
}

PathChain::Path PathChain::find(FileReference directory) {
  if (has_last_ && directory == last_) return {text_, whole_, live_};
  std::vector<StoredText> names;
  std::size_t units = 0;
  whole_ = false;
  live_ = true;
  FileReference at = directory;
  while (at.record != root_record && names.size() < deepest && units < longest_path / 3) {
    const auto parent = parent_of(at);
    if (!parent.valid) break;
    live_ = live_ && parent.in_use;
    names.push_back(parent.name);
    units += parent.name.units();
    at = parent.reference;
    // A loop shows when the way comes back to its start; others end at the limits.
    if (at == directory) break;
  }
  whole_ = at.record == root_record && parent_of(at).valid;
  live_ = live_ && whole_;
  text_ = whole_ ? std::string{} : broken_path(at);
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    text_ += '/';
    append_exact(text_, *name);
  }
  last_ = directory;
  has_last_ = true;
  return {text_, whole_, live_};
}

}  // namespace coldtrace::ntfs
