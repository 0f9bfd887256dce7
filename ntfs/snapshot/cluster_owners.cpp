#include "ntfs/snapshot/cluster_owners.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace coldtrace::ntfs {
namespace {

// The base of an extension record where it is there, or else the record itself.
u64 owner_of(const RecordFacts& facts, const RecordTable& records) {
  const auto base = facts.base;
  if (!facts.is_extension() || !records.has(base.record)) return facts.record;
  const auto summary = records.summary(base.record);
  return summary.in_use && summary.sequence == base.sequence ? base.record : facts.record;
}

// Calls `visit(common)` for what a range has in common with ranges that are apart.
template <class Range, class Visit>
void for_each_common(const std::vector<Range>& ranges, ClusterRange range, Visit&& visit) {
  auto at = std::ranges::upper_bound(ranges, range.start, {}, &Range::end);
  for (; at != ranges.end() && at->start < range.end; ++at)
    visit(ClusterRange{std::max(range.start, at->start), std::min(range.end, at->end)}, *at);
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
  wanted.insert(wanted.end(), marks.doubtful().begin(), marks.doubtful().end());
  normalize(wanted);
  if (wanted.empty()) return owners;
  for (u64 record = 0; record < records.size(); ++record) {
    if (!records.has(record) || !records.summary(record).in_use) continue;
    records.unpack(record, facts);
    const u64 owner = owner_of(facts, records);
    for_each_run(facts, map, [&](u64 start, u64 end) {
      for_each_common(wanted, {start, end}, [&](ClusterRange common, const ClusterRange&) {
        owners.used_.push_back({common.start, common.end, owner});
      });
    });
  }
  std::ranges::stable_sort(owners.used_, {}, &Owned::start);
  // Shared clusters belong to the first owner, and are noted for both.
  u64 known = 0;
  u64 holder = 0;
  for (auto& range : owners.used_) {
    if (range.start < known) {
      owners.shared_.push_back({range.start, std::min(range.end, known)});
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
  normalize(owners.shared_);
  return owners;
}

void ClusterOwners::judge(FileRow& row) const {
  if (!row.source->has_record) return;
  if (row.facts.in_use) {
    judge_used(row);
  } else {
    judge_deleted(row);
  }
}

void ClusterOwners::judge_deleted(FileRow& row) const {
  u64 clusters = 0;
  std::optional<u64> owner;
  for_each_place(row, [&](ClusterRange place) {
    for_each_common(used_, place, [&](ClusterRange common, const Owned& used) {
      clusters += common.end - common.start;
      if (!owner) owner = used.owner;
    });
  });
  if (owner)
    row.findings.push_back({"cluster-reused", false,
                            fmt::format("{} clusters belong to other files now, first to record {}",
                                        clusters, *owner)});
}

void ClusterOwners::judge_used(FileRow& row) const {
  const u64 record = row.source->file.record;
  const auto partner = partners_.find(record);
  if (partner == partners_.end()) return;
  u64 clusters = 0;
  for_each_place(row, [&](ClusterRange place) {
    for_each_common(shared_, place, [&](ClusterRange common, const ClusterRange&) {
      clusters += common.end - common.start;
    });
  });
  row.findings.push_back(
      {"cluster-shared", true,
       partner->second == record
           ? fmt::format("{} clusters are mapped twice in this file", clusters)
           : fmt::format("{} clusters belong to other files in use as well, first to record {}",
                         clusters, partner->second)});
}

}  // namespace coldtrace::ntfs
