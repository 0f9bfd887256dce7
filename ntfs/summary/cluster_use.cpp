#include "coldtrace/ntfs/summary/cluster_use.hpp"

#include <algorithm>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/text.hpp"
#include "ntfs/volume/allocation_bitmap.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr std::size_t least_ranges = std::size_t{1} << 20U;

}  // namespace

ClusterUseCounter::ClusterUseCounter(core::Borrowed<Volume> volume, u64 clusters_of_stretch,
                                     std::size_t stretches)
    : volume_{volume.get()},
      clusters_{volume_.mft().clusters().clusters},
      clusters_of_stretch_{clusters_of_stretch},
      stretches_{stretches},
      next_normalize_{least_ranges} {}

void ClusterUseCounter::add(const SummaryRow& row) {
  if (!row.first_of_file || row.state == State::deleted) return;
  for (const auto& extent : row.extents) {
    if (!extent.lcn) continue;
    const auto start = static_cast<u64>(*extent.lcn);
    const auto end = std::min(core::saturating_add(start, extent.clusters), clusters_);
    if (start < end) listed_.push_back({start, end});
  }
  if (listed_.size() < next_normalize_) return;
  normalize(listed_);
  next_normalize_ = std::max(least_ranges, 2 * listed_.size());
}

std::vector<ClusterUse> ClusterUseCounter::finish() {
  normalize(listed_);
  AllocationBitmap bitmap{volume_};
  std::vector<ClusterUse> uses(stretches_);
  const auto each_stretch = [&](ClusterRange range, auto visit) {
    for (auto at = range.start; at < range.end;) {
      const auto stretch = at / clusters_of_stretch_;
      if (stretch >= uses.size()) return;
      const auto end = std::min(range.end, (stretch + 1) * clusters_of_stretch_);
      visit(uses[stretch], end - at, bitmap.count(at, end));
      at = end;
    }
  };
  using Count = AllocationBitmap::Count;
  each_stretch({0, clusters_}, [](ClusterUse& use, u64 clusters, const Count& count) {
    use.used += count.allocated;
    use.unlisted += count.allocated;
    use.unknown += count.unknown;
    use.free += clusters - count.allocated - count.unknown;
  });
  for (const auto& range : listed_)
    each_stretch(range, [](ClusterUse& use, u64 clusters, const Count& count) {
      use.unlisted -= std::min(use.unlisted, count.allocated);
      use.contradicted += clusters - count.allocated - count.unknown;
    });
  return uses;
}

void note_cluster_use(std::span<const ClusterUse> uses, core::Findings& findings) {
  u64 contradicted = 0;
  for (const auto& use : uses) contradicted += use.contradicted;
  if (contradicted > 0)
    findings.warning("cluster-bitmap", std::nullopt, "$Bitmap says that {} free",
                     core::counted(contradicted, "cluster of a file that is not deleted is",
                                   "clusters of files that are not deleted are"));
}

}  // namespace coldtrace::ntfs
