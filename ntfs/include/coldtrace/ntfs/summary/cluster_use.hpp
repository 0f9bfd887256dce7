#pragma once

#include <span>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/cluster_marks.hpp"
#include "coldtrace/ntfs/summary/summary_row.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// Clusters of a range of a volume: $Bitmap compared with the listed files.
struct ClusterUse {
  u64 free = 0;
  u64 used = 0;
  u64 unlisted = 0;      // used, but not by a listed file that is not deleted
  u64 contradicted = 0;  // free, but used by such a file
  u64 unknown = 0;       // $Bitmap cannot be read there, or ends before them
};

// Counts the use of clusters in equal ranges of a volume. Memory grows with the extents of the
// listed files, time with them and with $Bitmap.
class ClusterUseCounter {
 public:
  // The volume must outlive it. `stretches` of `clusters_of_stretch` clusters cover the whole
  // volume.
  ClusterUseCounter(core::Borrowed<Volume> volume, u64 clusters_of_stretch, std::size_t stretches);

  void add(const SummaryRow& row);
  // To be called once, after all rows: the use of each range.
  std::vector<ClusterUse> finish();

 private:
  const Volume& volume_;
  u64 clusters_;
  u64 clusters_of_stretch_;
  std::size_t stretches_;
  std::vector<ClusterRange> listed_;
  std::size_t next_normalize_;
};

// `cluster-bitmap`: clusters of files that are not deleted, but free according to $Bitmap.
void note_cluster_use(std::span<const ClusterUse> uses, core::Findings& findings);

}  // namespace coldtrace::ntfs
