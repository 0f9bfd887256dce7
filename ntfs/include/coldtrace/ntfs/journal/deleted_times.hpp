#pragma once

#include <optional>
#include <unordered_map>

#include "coldtrace/core/file_time.hpp"
#include "coldtrace/ntfs/journal/usn_record.hpp"
#include "coldtrace/ntfs/record_table.hpp"
#include "coldtrace/ntfs/row.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// When a file was deleted, as a record of the change journal says: its time and number.
struct DeletedAt {
  core::FileTime time;
  u64 usn;
};

// What a change journal says of files that were deleted: by record and sequence number, so that
// another file in the same record is never taken for it. NTFS counts the sequence number of a
// record on when its file is deleted: that of the record is one more than that of the journal.
// Observed on volumes of Windows.
class DeletedTimes {
 public:
  // Records of one journal in their order: the last one of a file counts.
  void add(const UsnRecord& record);

  // Of a deleted file, and of an entry that names one.
  [[nodiscard]] std::optional<DeletedAt> find(const RowSource& source) const;

  [[nodiscard]] std::size_t size() const { return times_.size(); }

 private:
  std::unordered_map<u64, DeletedAt> times_;
};

// Adds the finding of a row whose file was created more than a minute after it was deleted, as the
// journal says: programs can set the one and not the other.
void add_deletion_finding(const DeletedTimes& deleted, FileRow& row);

// Of the journals of a volume that are in use. Findings are those of the journals.
[[nodiscard]] DeletedTimes read_deleted_times(const Volume& volume, const RecordTable& records,
                                              core::Findings& findings);

}  // namespace coldtrace::ntfs
