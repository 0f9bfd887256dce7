#pragma once

#include <functional>
#include <vector>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/ntfs/row.hpp"
#include "coldtrace/ntfs/snapshot.hpp"

namespace coldtrace::ntfs {

// The ids that The Sleuth Kit uses for the attributes of a file: those stored in its base record,
// and for attributes in extension records, which have their own numbering, the next free ones in
// the order of the attribute list. All of one type and name share one, or 0 if the list has one of
// them in the base record: of several $FILE_NAME in extension records, icat finds the first.
// Source: The Sleuth Kit 4.11, behaviour of istat and icat.
class SleuthKitIds {
 public:
  // The ids of a row's file.
  [[nodiscard]] static SleuthKitIds of(const Snapshot& snapshot, const FileRow& row);

  SleuthKitIds() = default;
  SleuthKitIds(SleuthKitIds&&) = default;
  // `list` is the value of the attribute list with the id `list_id` in the record `base`.
  SleuthKitIds(u64 base, u16 list_id, std::vector<std::byte> list);

  // From here on, names are converted by `rename`.
  void rename(const std::function<StoredText(StoredText)>& rename);

  // The id of an attribute that has `stored_id` in its FILE record, `record`.
  [[nodiscard]] u16 find(AttributeType type, StoredText name, u64 record, u16 stored_id) const;

 private:
  struct Known {
    AttributeType type;
    StoredText name;
    u16 id;
  };

  u64 base_ = 0;
  std::vector<std::byte> list_;
  std::vector<Known> known_;
};

}  // namespace coldtrace::ntfs
