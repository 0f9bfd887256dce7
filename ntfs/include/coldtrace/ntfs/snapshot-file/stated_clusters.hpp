#pragma once

#include <optional>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/extents.hpp"

namespace coldtrace::ntfs {

// What the line of a snapshot that begins a volume says of its clusters, whoever wrote it; absent
// is what is not a number there.
struct StatedClusters {
  bool of_mft_alone = false;  // of a $MFT that was copied out
  std::optional<u64> cluster_size, clusters;
  u64 partition_offset = 0;
  std::optional<u64> lcn, offset;  // of the first extent of $MFT that says both
};

// Where these clusters are: none of a $MFT alone, nor where what is stated cannot be.
struct PlacedClusters {
  ClusterMap map;
  bool size_fits = true;   // no volume has larger clusters than 1 GiB, or of no size
  bool count_fits = true;  // stated, and not beyond the disk, of 2^63 bytes at most
};
// A volume may begin further on than its partition: where $MFT is says it.
[[nodiscard]] PlacedClusters place_clusters(const StatedClusters& stated);

// Whether rows say where on a disk their files are, so that requests to it can be laid on them. A
// $MFT alone, which may be from anywhere, does not: `snapshot-without-places`.
[[nodiscard]] bool has_places_on_disk(bool of_mft_alone, core::Findings& findings);

}  // namespace coldtrace::ntfs
