#pragma once

#include <string>
#include <vector>

#include "coldtrace/ntfs/row.hpp"
#include "coldtrace/ntfs_privacy/hashed_path.hpp"

namespace coldtrace::ntfs {

// Takes from rows what says who a file is of and what it is called: names of files, streams,
// extended attributes and indexes are hashed; owner, object id, reparse target and what
// Zone.Identifier says are left out. One object a thread.
class RowHasher {
 public:
  explicit RowHasher(core::Borrowed<privacy::HashedNames> names) : names_{names} {}

  // Views of the row are of this object then, until the next row.
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
