#include "coldtrace/ntfs/snapshot-file/stated_clusters.hpp"

#include "coldtrace/core/checked.hpp"
#include "coldtrace/ntfs/structures/boot_sector.hpp"

namespace coldtrace::ntfs {

PlacedClusters place_clusters(const StatedClusters& stated) {
  constexpr u64 largest_disk = ~u64{0} >> 1U;
  if (stated.of_mft_alone) return {};
  const auto size = stated.cluster_size.value_or(0);
  const auto count = stated.clusters.value_or(0);
  auto begin = stated.partition_offset;
  if (stated.lcn && stated.offset) {
    const auto before = core::checked_multiply(*stated.lcn, size);
    if (before && *before <= *stated.offset) begin = *stated.offset - *before;
  }
  const auto bytes = core::checked_multiply(size, count);
  const bool fits = bytes && *bytes <= largest_disk && begin <= largest_disk - *bytes;
  PlacedClusters placed;
  placed.size_fits = size > 0 && size <= largest_cluster;
  placed.count_fits = fits && stated.clusters;
  if (placed.size_fits && fits) placed.map = {begin, static_cast<u32>(size), count};
  return placed;
}

bool has_places_on_disk(bool of_mft_alone, core::Findings& findings) {
  if (of_mft_alone)
    findings.warning("snapshot-without-places", std::nullopt,
                     "$MFT alone does not say where on the disk its files are: no request of the "
                     "trace is matched to them");
  return !of_mft_alone;
}

}  // namespace coldtrace::ntfs
