#include "ntfs/cluster_owners.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace coldtrace::ntfs {
namespace {

struct Clusters {
  u64 start;
  u64 end;
};

// Calls `visit(start, end)` for each run of a record that is inside the volume.
template <class Visit>
void for_each_run(const RecordFacts& facts, const ClusterMap& map, Visit&& visit) {
  for (const auto& attribute : facts.attributes) {
    if (attribute.resident) continue;
    DataRunReader runs{attribute.runs, 0};
    while (const auto run = runs.next())
      if (run->start && map.contains(*run->start, run->clusters))
        visit(static_cast<u64>(*run->start), static_cast<u64>(*run->start) + run->clusters);
  }
}

// Sorted and joined, so that they are apart.
void normalize(std::vector<Clusters>& ranges) {
  std::ranges::sort(ranges, {}, &Clusters::start);
  std::size_t last = 0;
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].start <= ranges[last].end) {
      ranges[last].end = std::max(ranges[last].end, ranges[i].end);
    } else {
      ranges[++last] = ranges[i];
    }
  }
  if (!ranges.empty()) ranges.resize(last + 1);
}

}  // namespace

ClusterOwners ClusterOwners::find(const Mft& mft, const RecordTable& records) {
  ClusterOwners owners;
  RecordFacts facts;
  std::vector<Clusters> freed;
  const auto& map = mft.clusters();
  for (u64 record = 0; record < records.size(); ++record) {
    if (!records.has(record) || records.summary(record).in_use) continue;
    records.unpack(record, facts);
    for_each_run(facts, map, [&](u64 start, u64 end) { freed.push_back({start, end}); });
  }
  normalize(freed);
  if (freed.empty()) return owners;
  for (u64 record = 0; record < records.size(); ++record) {
    if (!records.has(record) || !records.summary(record).in_use) continue;
    records.unpack(record, facts);
    const u64 owner = facts.is_extension() ? facts.base.record : record;
    for_each_run(facts, map, [&](u64 start, u64 end) {
      auto range = std::ranges::upper_bound(freed, start, {}, &Clusters::end);
      for (; range != freed.end() && range->start < end; ++range)
        owners.reused_.push_back({std::max(start, range->start), std::min(end, range->end), owner});
    });
  }
  std::ranges::stable_sort(owners.reused_, {}, &Range::start);
  // Cross-linked clusters belong to the first owner.
  u64 known = 0;
  std::erase_if(owners.reused_, [&](Range& range) {
    range.start = std::max(range.start, known);
    known = std::max(known, range.end);
    return range.start >= range.end;
  });
  return owners;
}

void ClusterOwners::judge(FileRow& row) const {
  if (row.facts.in_use || !row.source->has_record || reused_.empty()) return;
  u64 clusters = 0;
  std::optional<u64> owner;
  for (const auto& stream : row.streams) {
    for (const auto& extent : row.extents_of(stream)) {
      if (!extent.lcn) continue;
      const auto start = static_cast<u64>(*extent.lcn);
      const u64 end = start + extent.clusters;
      auto range = std::ranges::upper_bound(reused_, start, {}, &Range::end);
      for (; range != reused_.end() && range->start < end; ++range) {
        clusters += std::min(end, range->end) - std::max(start, range->start);
        if (!owner) owner = range->owner;
      }
    }
  }
  if (owner)
    row.findings.push_back({"cluster-reused", false,
                            fmt::format("{} clusters belong to other files now, first to record {}",
                                        clusters, *owner)});
}

}  // namespace coldtrace::ntfs
