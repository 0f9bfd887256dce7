#pragma once

#include <optional>
#include <unordered_map>

#include "coldtrace/core/file_time.hpp"
#include "coldtrace/ntfs/journal/usn_record.hpp"
#include "coldtrace/ntfs/record_table.hpp"
#include "coldtrace/ntfs/row.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// When a file was deleted, from a record of the change journal: its time and number.
struct DeletedAt {
  core::FileTime time;
  u64 usn;
};

// Deletions of files recorded by a change journal: by record and sequence number, so that another
// file in the same record is never mistaken for it. NTFS increases the sequence number of a record
// when its file is deleted: that of the record is one more than that in the journal. Observed on
// volumes of Windows.
class DeletedTimes {
 public:
  // Records of one journal in their order: the last one of a file is used.
  void add(const UsnRecord& record);

  // For a deleted file, and for an entry that names one.
  [[nodiscard]] std::optional<DeletedAt> find(const RowSource& source) const;

  [[nodiscard]] std::size_t size() const { return times_.size(); }

 private:
  std::unordered_map<u64, DeletedAt> times_;
};

// Adds a finding to a row whose file was created more than a minute after the journal says it was
// deleted: programs can set the creation time, but not the journal's.
void add_deletion_finding(const DeletedTimes& deleted, FileRow& row);

// For the journals of a volume that are in use. Findings are those of the journals.
[[nodiscard]] DeletedTimes read_deleted_times(const Volume& volume, const RecordTable& records,
                                              core::Findings& findings);

}  // namespace coldtrace::ntfs
