#pragma once

#include <unordered_map>
#include <vector>

#include "coldtrace/ntfs/cluster_marks.hpp"
#include "coldtrace/ntfs/mft.hpp"
#include "coldtrace/ntfs/record_table.hpp"
#include "coldtrace/ntfs/row.hpp"

namespace coldtrace::ntfs {

// Who has the clusters of deleted files now, and which clusters several files in use share.
class ClusterOwners {
 public:
  // `marks` are those of all records in use.
  [[nodiscard]] static ClusterOwners find(const Mft& mft, const RecordTable& records,
                                          const ClusterMarks& marks);

  // Adds a finding to the row of a file whose clusters a record in use also has.
  void note_common(FileRow& row) const;

 private:
  // Clusters with an owner. Counted from the first piece on, so that a run over the whole volume
  // costs two look-ups and not a walk.
  struct Owned {
    u64 start;  // LCN
    u64 end;
    u64 owner;
    u64 before = 0;  // clusters of the pieces before this one
  };
  struct Common {
    u64 clusters = 0;
    std::optional<u64> owner;  // of the first
  };
  static void count(std::vector<Owned>& pieces);
  static Common common(const std::vector<Owned>& pieces, const FileRow& row);
  void note_reused(FileRow& row) const;
  void note_shared(FileRow& row) const;

  std::vector<Owned> used_;                // by start, disjoint
  std::vector<Owned> shared_;              // by start, disjoint; owners have no meaning
  std::unordered_map<u64, u64> partners_;  // which other record has clusters of a record
};

}  // namespace coldtrace::ntfs
