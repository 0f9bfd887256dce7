#pragma once

#include <map>
#include <string>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/ntfs/journal/deleted_times.hpp"
#include "coldtrace/ntfs/snapshot.hpp"
#include "coldtrace/ntfs_query/file_values.hpp"

namespace coldtrace::ntfs {

// The values of a row of a snapshot, the same as in its line. One object per thread.
class RowValues final : public FileValues {
 public:
  // The volume is in the partition `number`, 0 without any, which starts at byte `offset` of the
  // image, and is that of a shadow copy, or the present one (0).
  RowValues(core::Borrowed<Snapshot> snapshot, u32 number, u64 offset, u32 shadow = 0)
      : snapshot_{snapshot.get()}, number_{number}, offset_{offset}, shadow_{shadow} {}

  // Without it, no file is known to have been deleted.
  void set_deleted(core::Borrowed<DeletedTimes> deleted) { deleted_ = &deleted.get(); }

  // Uses this row from now on; it must stay valid.
  void set(const FileRow& row) { row_ = &row; }

  void each(FileMember member, const See& see) override;

 private:
  void name(FileMember member, const See& see);
  void short_name(FileMember member, const See& see);
  void place(FileMember member, const See& see);
  void times(FileMember member, const See& see) const;
  void metadata(FileMember member, const See& see);
  void reparse_target(FileMember member, const See& see) const;
  void deleted_at(FileMember member, const See& see) const;
  static void zone_id(const ZoneIdentifier& zone, FileMember member, const See& see);
  void entry(FileMember member, const See& see);
  void attributes(u32 bits, const See& see);
  void extended_attributes(FileMember member, const See& see) const;
  void streams(const std::vector<StreamRow>& streams, FileMember member, const See& see);
  void stream(const StreamRow& stream, FileMember member, const See& see);
  void extents(const StreamRow& stream, FileMember member, const See& see) const;

  const Snapshot& snapshot_;
  u32 number_;
  u64 offset_;
  u32 shadow_;
  const FileRow* row_ = nullptr;
  const DeletedTimes* deleted_ = nullptr;
  std::string text_;
  std::map<u32, std::vector<std::string>> attributes_;  // volumes have few combinations
};

}  // namespace coldtrace::ntfs
