#pragma once

#include <string>
#include <vector>

#include "coldtrace/ntfs/row.hpp"
#include "coldtrace/ntfs_privacy/hashed_path.hpp"

namespace coldtrace::ntfs {

// Removes from rows what identifies the owner and name of a file: names of files, streams, extended
// attributes and indexes are hashed; owner, object id, reparse target and the contents of
// Zone.Identifier are left out. One object per thread.
class RowHasher {
 public:
  explicit RowHasher(core::Borrowed<privacy::HashedNames> names) : names_{names} {}

  // The row's views are then owned by this object, until the next row.
  void hash(FileRow& row);

 private:
  void hash_names(FileRow& row);
  void hash_extended_attributes(FileRow& row);
  static void hash_findings(FileRow& row, const privacy::HashedNames& names);

  StoredNameHasher names_;
  std::string parent_, hashed_parent_;  // of the last row: siblings share it
  FileName file_name_, short_name_;
  std::vector<std::byte> extended_attributes_;
};

}  // namespace coldtrace::ntfs
