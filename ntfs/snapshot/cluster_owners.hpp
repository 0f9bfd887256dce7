#pragma once

#include <unordered_map>
#include <vector>

#include "ntfs/snapshot/cluster_marks.hpp"
#include "ntfs/snapshot/record_table.hpp"
#include "ntfs/snapshot/row.hpp"
#include "ntfs/volume/mft.hpp"

namespace coldtrace::ntfs {

// Who has the clusters of deleted files now, and which clusters several files in use have.
class ClusterOwners {
 public:
  // `marks` are those of all records in use.
  static ClusterOwners find(const Mft& mft, const RecordTable& records, const ClusterMarks& marks);

  // Adds a finding to the row of a file whose clusters a record in use has as well.
  void judge(FileRow& row) const;

 private:
  struct Owned {
    u64 start;  // LCN
    u64 end;
    u64 owner;
  };
  void judge_deleted(FileRow& row) const;
  void judge_used(FileRow& row) const;

  std::vector<Owned> used_;                // by start; apart from each other
  std::vector<ClusterRange> shared_;       // by start; apart from each other
  std::unordered_map<u64, u64> partners_;  // who else has clusters of a record
};

}  // namespace coldtrace::ntfs
