#pragma once

#include <span>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/cluster_marks.hpp"
#include "coldtrace/ntfs/summary/summary_row.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// Clusters of a stretch of a volume: what $Bitmap says of them, beside the files that are listed.
struct ClusterUse {
  u64 free = 0;
  u64 used = 0;
  u64 unlisted = 0;      // used, and no listed file that is not deleted has them
  u64 contradicted = 0;  // free, and such a file has them
  u64 unknown = 0;       // $Bitmap cannot be read there, or ends before them
};

// Counts the use of clusters in equal stretches of a volume. Memory grows with the extents of the
// files that are listed, the time with them and with $Bitmap.
class ClusterUseCounter {
 public:
  // The volume outlives it. `stretches` of `clusters_of_stretch` clusters hold all of the volume.
  ClusterUseCounter(core::Borrowed<Volume> volume, u64 clusters_of_stretch, std::size_t stretches);

  void add(const SummaryRow& row);
  // To be called once, after all rows: a use for each stretch.
  std::vector<ClusterUse> finish();

 private:
  const Volume& volume_;
  u64 clusters_;
  u64 clusters_of_stretch_;
  std::size_t stretches_;
  std::vector<ClusterRange> listed_;
  std::size_t next_normalize_;
};

// `cluster-bitmap`: what files that are not deleted have and $Bitmap says is free.
void note_cluster_use(std::span<const ClusterUse> uses, core::Findings& findings);

}  // namespace coldtrace::ntfs
