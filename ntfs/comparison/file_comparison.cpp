#include "coldtrace/ntfs/comparison/file_comparison.hpp"

#include <algorithm>
#include <tuple>

#include "coldtrace/core/checked.hpp"

namespace coldtrace::ntfs {
namespace {

using Names = std::vector<const ComparedName*>;

bool is_before(const ComparedName* a, const ComparedName* b) {
  return std::tie(a->parent, a->name) < std::tie(b->parent, b->name);
}

Names sorted_names(const ComparedFile& file) {
  Names names;
  for (const auto& name : file.names) names.push_back(&name);
  std::ranges::sort(names, is_before);
  return names;
}

// Takes pairs out of both lists, which are in the order of `key`.
template <class Key>
void pair_names(Names& before, Names& after, Key key, std::vector<NameDifference>& found) {
  std::ranges::stable_sort(before, {}, key);
  std::ranges::stable_sort(after, {}, key);
  Names left_before, left_after;
  auto b = before.begin(), a = after.begin();
  while (b != before.end() && a != after.end()) {
    if (key(*b) < key(*a)) {
      left_before.push_back(*b++);
    } else if (key(*a) < key(*b)) {
      left_after.push_back(*a++);
    } else {
      const bool same_directory = (*b)->parent == (*a)->parent;
      found.push_back({same_directory ? FileChange::renamed : FileChange::moved, *b++, *a++});
    }
  }
  left_before.insert(left_before.end(), b, before.end());
  left_after.insert(left_after.end(), a, after.end());
  before = std::move(left_before);
  after = std::move(left_after);
}

// A name that is gone and a new one are one that was changed: rather in its directory, then under
// its name, then any.
std::vector<NameDifference> compare_names(const ComparedFile& before, const ComparedFile& after) {
  const auto old_names = sorted_names(before);
  const auto new_names = sorted_names(after);
  Names gone, added;
  std::ranges::set_difference(old_names, new_names, std::back_inserter(gone), is_before);
  std::ranges::set_difference(new_names, old_names, std::back_inserter(added), is_before);
  std::vector<NameDifference> found;
  pair_names(
      gone, added, [](const ComparedName* name) { return name->parent; }, found);
  pair_names(
      gone, added, [](const ComparedName* name) { return std::string_view{name->name}; }, found);
  pair_names(
      gone, added, [](const ComparedName*) { return 0; }, found);
  for (const auto* name : added) found.push_back({FileChange::linked, nullptr, name});
  for (const auto* name : gone) found.push_back({FileChange::unlinked, name, nullptr});
  return found;
}

// A name that both have is the first of both.
void put_common_name_first(ComparedFile& before, ComparedFile& after) {
  if (before.names.size() == 1 && after.names.size() == 1) return;
  const auto old_names = sorted_names(before);
  const auto common = std::ranges::find_if(after.names, [&](const ComparedName& name) {
    return std::ranges::binary_search(old_names, &name, is_before);
  });
  if (common == after.names.end()) return;
  const auto old_common = std::ranges::find_if(before.names, [&](const ComparedName& name) {
    return name.parent == common->parent && name.name == common->name;
  });
  std::rotate(before.names.begin(), old_common, std::next(old_common));
  std::rotate(after.names.begin(), common, std::next(common));
}

// Whether a cluster of the stream that is mapped in both is another one.
bool is_relocated(const ComparedStream& before, const ComparedStream& after) {
  if (before.resident != after.resident) return before.size != 0 && after.size != 0;
  auto b = before.extents.begin();
  auto a = after.extents.begin();
  while (b != before.extents.end() && a != after.extents.end()) {
    const u64 start = std::max(b->vcn, a->vcn);
    const u64 end = std::min(core::saturating_add(b->vcn, b->clusters),
                             core::saturating_add(a->vcn, a->clusters));
    if (start < end && b->lcn && a->lcn &&
        static_cast<u64>(*b->lcn) - b->vcn != static_cast<u64>(*a->lcn) - a->vcn)
      return true;
    if (core::saturating_add(b->vcn, b->clusters) <= end)
      ++b;
    else
      ++a;
  }
  return false;
}

std::vector<StreamDifference> compare_streams(const std::vector<ComparedStream>& before,
                                              const std::vector<ComparedStream>& after) {
  using Streams = std::vector<const ComparedStream*>;
  const auto is_before_it = [](const ComparedStream* a, const ComparedStream* b) {
    return a->name < b->name;
  };
  const auto sorted = [&](const std::vector<ComparedStream>& streams) {
    Streams result;
    for (const auto& stream : streams) result.push_back(&stream);
    std::ranges::stable_sort(result, is_before_it);
    return result;
  };
  const auto old_streams = sorted(before);
  const auto new_streams = sorted(after);
  std::vector<StreamDifference> found;
  auto b = old_streams.begin();
  auto a = new_streams.begin();
  while (b != old_streams.end() || a != new_streams.end()) {
    if (a == new_streams.end() || (b != old_streams.end() && is_before_it(*b, *a))) {
      found.push_back({*b++, nullptr});
    } else if (b == old_streams.end() || is_before_it(*a, *b)) {
      found.push_back({nullptr, *a++});
    } else {
      const bool resized = (*b)->size && (*a)->size && (*b)->size != (*a)->size;
      const bool relocated = is_relocated(**b, **a);
      if (resized || relocated) found.push_back({*b, *a, resized, relocated});
      ++b, ++a;
    }
  }
  return found;
}

// Which clusters of a stream have a place: start and end of each stretch.
std::vector<std::pair<u64, u64>> placed_clusters(const ComparedStream& stream) {
  std::vector<std::pair<u64, u64>> stretches;
  for (const auto& extent : stream.extents) {
    if (!extent.lcn || extent.clusters == 0) continue;
    const u64 end = core::saturating_add(extent.vcn, extent.clusters);
    if (!stretches.empty() && stretches.back().second == extent.vcn)
      stretches.back().second = end;
    else
      stretches.emplace_back(extent.vcn, end);
  }
  return stretches;
}

template <class T>
bool differs(const std::optional<T>& before, const std::optional<T>& after) {
  return before && after && !(*before == *after);
}

void compare_metadata(FileDifference& difference) {
  const auto& before = *difference.before;
  const auto& after = *difference.after;
  const auto note = [&](std::string_view member, bool different) {
    if (different && std::ranges::find(difference.metadata, member) == difference.metadata.end())
      difference.metadata.push_back(member);
  };
  const auto old_names = sorted_names(before);
  for (const auto& name : after.names) {
    const auto same = std::ranges::lower_bound(old_names, &name, is_before);
    if (same == old_names.end() || is_before(&name, *same)) continue;
    note("short_name", differs((*same)->short_name, name.short_name));
    note("fn", differs((*same)->times, name.times));
  }
  for (std::size_t i = 0; i < compared_members.size(); ++i)
    note(compared_members[i], differs(before.members[i], after.members[i]));
  if (!before.streams || !after.streams) return;
  for (const auto& stream : *after.streams) {
    const auto same = std::ranges::find(*before.streams, stream.name, &ComparedStream::name);
    if (same == before.streams->end()) continue;
    note("flags", std::tie(same->compressed, same->encrypted, same->sparse) !=
                      std::tie(stream.compressed, stream.encrypted, stream.sparse));
    if (same->resident || stream.resident || same->size != stream.size) continue;
    note("valid", differs(same->valid, stream.valid));
    note("clusters", !before.incomplete && !after.incomplete &&
                         placed_clusters(*same) != placed_clusters(stream));
  }
}

// Which side may have names, and other parts, that were not found.
struct Lacks {
  bool names_before = false;
  bool names_after = false;
};

void compare(FileDifference& difference, const Lacks& lacks) {
  auto& before = *difference.before;
  auto& after = *difference.after;
  put_common_name_first(before, after);
  difference.names = compare_names(before, after);
  if (before.streams && after.streams)
    difference.streams = compare_streams(*before.streams, *after.streams);
  const auto found =
      std::erase_if(difference.names,
                    [&](const NameDifference& name) {
                      return (!name.before && (before.incomplete || lacks.names_before)) ||
                             (!name.after && (after.incomplete || lacks.names_after));
                    }) +
      std::erase_if(difference.streams, [&](const StreamDifference& stream) {
        return (!stream.before && before.incomplete) || (!stream.after && after.incomplete);
      });
  difference.unknown = found > 0;
  difference.touched = differs(before.times, after.times);
  difference.attributes = differs(before.attributes, after.attributes);
  difference.owner = differs(before.owner, after.owner);
  compare_metadata(difference);
}

}  // namespace

std::string_view to_string(FileChange change) {
  constexpr std::array<std::string_view, file_change_count> names{
      "created",  "deleted",    "renamed",        "moved",          "linked",
      "unlinked", "resized",    "stream_created", "stream_deleted", "relocated",
      "touched",  "attributes", "owner",          "metadata"};
  return names[static_cast<std::size_t>(change)];
}

std::vector<FileChange> FileDifference::changes() const {
  std::vector<FileChange> changes;
  if (!before) changes.push_back(FileChange::created);
  if (!after) changes.push_back(FileChange::deleted);
  for (const auto& name : names) changes.push_back(name.change);
  for (const auto& stream : streams) {
    if (!stream.before) changes.push_back(FileChange::stream_created);
    if (!stream.after) changes.push_back(FileChange::stream_deleted);
    if (stream.resized) changes.push_back(FileChange::resized);
    if (stream.relocated) changes.push_back(FileChange::relocated);
  }
  if (touched) changes.push_back(FileChange::touched);
  if (attributes) changes.push_back(FileChange::attributes);
  if (owner) changes.push_back(FileChange::owner);
  if (!metadata.empty()) changes.push_back(FileChange::metadata);
  std::ranges::sort(changes);
  changes.erase(std::unique(changes.begin(), changes.end()), changes.end());
  return changes;
}

void ComparisonCounts::add(const ComparisonCounts& other) {
  before += other.before;
  after += other.after;
  unchanged += other.unchanged;
  unknown += other.unknown;
  for (std::size_t i = 0; i < changes.size(); ++i) changes[i] += other.changes[i];
}

core::Result<ComparisonCounts> compare_files(
    const ComparedFiles& before, const ComparedFiles& after,
    const std::function<void(const FileDifference&)>& visit) {
  ComparisonCounts counts;
  const auto tell = [&](const FileDifference& difference) {
    const auto changes = difference.changes();
    for (const auto change : changes) ++counts.changes[static_cast<std::size_t>(change)];
    if (!changes.empty())
      visit(difference);
    else if (difference.unknown)
      ++counts.unknown;
    else
      ++counts.unchanged;
  };
  auto b = before.next({});
  auto a = after.next({});
  while (b.count > 0 || a.count > 0) {
    const bool has_before = b.count > 0 && (a.count == 0 || b.file <= a.file);
    const bool has_after = a.count > 0 && (b.count == 0 || a.file <= b.file);
    counts.before += has_before;
    counts.after += has_after;
    if ((!has_after && after.may_have(b.file)) || (!has_before && before.may_have(a.file))) {
      ++counts.unknown;
    } else if (has_before && has_after && COLDTRACE_TRY(before.same(b, after, a))) {
      ++counts.unchanged;
    } else {
      FileDifference difference;
      if (has_before) difference.before = COLDTRACE_TRY(before.read(b));
      if (has_after) difference.after = COLDTRACE_TRY(after.read(a));
      difference.file = has_before ? difference.before->file : difference.after->file;
      if (has_before && has_after)
        compare(difference, {before.may_have(b.file), after.may_have(a.file)});
      tell(difference);
    }
    if (has_before) b = before.next(b);
    if (has_after) a = after.next(a);
  }
  return counts;
}

}  // namespace coldtrace::ntfs
