#pragma once

#include <optional>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/extents.hpp"

namespace coldtrace::ntfs {

// What the first line of a volume in a snapshot says about its clusters, whoever wrote it; absent
// if it is not a number there.
struct StatedClusters {
  bool of_mft_alone = false;  // of a $MFT that was copied out
  std::optional<u64> cluster_size, clusters;
  u64 partition_offset = 0;
  std::optional<u64> lcn, offset;  // of the first extent of $MFT that has both
};

// The place of these clusters: none for a lone $MFT, nor if the stated values are impossible.
struct PlacedClusters {
  ClusterMap map;
  bool size_fits = true;   // not 0, and not above largest_cluster
  bool count_fits = true;  // stated, and not beyond the disk, of at most 2^63 bytes
};
// A volume may begin later than its partition: the place of $MFT shows it.
[[nodiscard]] PlacedClusters place_clusters(const StatedClusters& stated);

// Whether rows say where on a disk their files are, so that disk requests can be matched with them.
// A lone $MFT, which may come from anywhere, does not: `snapshot-without-places`.
[[nodiscard]] bool has_places_on_disk(bool of_mft_alone, core::Findings& findings);

}  // namespace coldtrace::ntfs
