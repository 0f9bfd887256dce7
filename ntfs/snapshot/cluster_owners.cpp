#include "coldtrace/ntfs/cluster_owners.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"

namespace coldtrace::ntfs {
namespace {

// The base of an extension record where it is there, or else the record itself.
u64 owner_of(const RecordFacts& facts, const RecordTable& records) {
  const auto base = facts.base;
  if (!facts.is_extension() || !records.has(base.record)) return facts.record;
  const auto summary = records.summary(base.record);
  return summary.in_use && summary.sequence == base.sequence ? base.record : facts.record;
}

// Whether a range has clusters in common with ranges that are apart.
bool touches(const std::vector<ClusterRange>& ranges, ClusterRange range) {
  const auto at = std::ranges::upper_bound(ranges, range.start, {}, &ClusterRange::end);
  return at != ranges.end() && at->start < range.end;
}

template <class Visit>
void for_each_place(const FileRow& row, Visit&& visit) {
  for (const auto& extent : row.extents)
    if (extent.lcn)
      visit(ClusterRange{static_cast<u64>(*extent.lcn),
                         static_cast<u64>(*extent.lcn) + extent.clusters});
}

}  // namespace

ClusterOwners ClusterOwners::find(const Mft& mft, const RecordTable& records,
                                  const ClusterMarks& marks) {
  ClusterOwners owners;
  RecordFacts facts;
  const auto& map = mft.clusters();
  std::vector<ClusterRange> wanted;
  for (u64 record = 0; record < records.size(); ++record) {
    if (!records.has(record) || records.summary(record).in_use) continue;
    records.unpack(record, facts);
    for_each_run(facts, map, [&](u64 start, u64 end) { wanted.push_back({start, end}); });
  }
  normalize(wanted);
  std::erase_if(wanted, [&](const ClusterRange& range) { return !marks.any(range); });
  wanted.insert(wanted.end(), marks.marked_again().begin(), marks.marked_again().end());
  normalize(wanted);
  if (wanted.empty()) return owners;
  for (u64 record = 0; record < records.size(); ++record) {
    if (!records.has(record) || !records.summary(record).in_use) continue;
    records.unpack(record, facts);
    const u64 owner = owner_of(facts, records);
    // Whole runs: which parts of them are wanted depends on the order in which they were marked.
    for_each_run(facts, map, [&](u64 start, u64 end) {
      if (touches(wanted, {start, end})) owners.used_.push_back({start, end, owner});
    });
  }
  std::ranges::stable_sort(owners.used_, {}, &Owned::start);
  // Shared clusters belong to the first owner, and are noted for both.
  std::vector<ClusterRange> shared;
  u64 known = 0;
  u64 holder = 0;
  for (auto& range : owners.used_) {
    if (range.start < known) {
      shared.push_back({range.start, std::min(range.end, known)});
      owners.partners_.try_emplace(holder, range.owner);
      owners.partners_.try_emplace(range.owner, holder);
    }
    const u64 start = std::max(range.start, known);
    if (range.end > known) {
      known = range.end;
      holder = range.owner;
    }
    range.start = start;
  }
  std::erase_if(owners.used_, [](const Owned& range) { return range.start >= range.end; });
  normalize(shared);
  for (const auto& range : shared) owners.shared_.push_back({range.start, range.end, 0});
  count(owners.used_);
  count(owners.shared_);
  return owners;
}

void ClusterOwners::note_common(FileRow& row) const {
  if (!row.source->has_record) return;
  if (row.facts.in_use) {
    note_shared(row);
  } else {
    note_reused(row);
  }
}

void ClusterOwners::count(std::vector<Owned>& pieces) {
  u64 before = 0;
  for (auto& piece : pieces) {
    piece.before = before;
    before += piece.end - piece.start;
  }
}

ClusterOwners::Common ClusterOwners::common(const std::vector<Owned>& pieces, const FileRow& row) {
  Common common;
  for_each_place(row, [&](ClusterRange place) {
    const auto first = std::ranges::upper_bound(pieces, place.start, {}, &Owned::end);
    const auto last = std::ranges::lower_bound(first, pieces.end(), place.end, {}, &Owned::start);
    if (first == last) return;
    const auto& end = *std::prev(last);
    const u64 cut_before = std::max(place.start, first->start) - first->start;
    const u64 cut_behind = end.end - std::min(place.end, end.end);
    common.clusters += end.before + (end.end - end.start) - first->before - cut_before - cut_behind;
    if (!common.owner) common.owner = first->owner;
  });
  return common;
}

void ClusterOwners::note_reused(FileRow& row) const {
  const auto reused = common(used_, row);
  if (reused.owner)
    row.findings.push_back(
        {"cluster-reused", false,
         fmt::format("{} now, first to record {}",
                     core::counted(reused.clusters, "cluster belongs to another file",
                                   "clusters belong to other files"),
                     *reused.owner)});
}

void ClusterOwners::note_shared(FileRow& row) const {
  const u64 record = row.source->file.record;
  const auto partner = partners_.find(record);
  if (partner == partners_.end()) return;
  const u64 clusters = common(shared_, row).clusters;
  row.findings.push_back(
      {"cluster-shared", true,
       partner->second == record
           ? fmt::format("{} mapped twice in this file",
                         core::counted(clusters, "cluster is", "clusters are"))
           : fmt::format("{} in use, first to record {}",
                         core::counted(clusters, "cluster also belongs to another file",
                                       "clusters also belong to other files"),
                         partner->second)});
}

}  // namespace coldtrace::ntfs
