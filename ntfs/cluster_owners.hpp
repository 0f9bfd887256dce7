#pragma once

#include <vector>

#include "ntfs/mft.hpp"
#include "ntfs/record_table.hpp"
#include "ntfs/row.hpp"

namespace coldtrace::ntfs {

// Who has the clusters of deleted files now.
class ClusterOwners {
 public:
  // Notes the clusters of all deleted records, then which of them a record in use has.
  static ClusterOwners find(const Mft& mft, const RecordTable& records);

  // Adds a finding to the row of a deleted file when a record in use has some of its clusters.
  void judge(FileRow& row) const;

 private:
  struct Range {
    u64 start;  // LCN
    u64 end;
    u64 owner;
  };
  std::vector<Range> reused_;  // by start; apart from each other
};

}  // namespace coldtrace::ntfs
