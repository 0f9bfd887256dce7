#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coldtrace/ntfs/journal/usn_record.hpp"
#include "coldtrace/ntfs/record_table.hpp"

namespace coldtrace::ntfs {

// Names and parents of directories as they were at any record of a change journal. A journal
// contains a parent's reference but not its path, and directories are renamed: rewind() goes from
// the newest record to the oldest, then replay() from the oldest to the newest. Memory grows with
// the number of directories and of their changes.
class DirectoryHistory {
 public:
  // Starts with the contents of $MFT: directories in use, and deleted ones under the sequence
  // number that they had.
  void start_from(const RecordTable& records);

  // The largest journal record number in a directory in use; 0: none.
  [[nodiscard]] u64 newest_usn() const { return newest_usn_; }

  // What a record says about its file applies at it and before it, until an older record for the
  // same file. For a directory without newer records, it also applies after it, if `lossless`: no
  // record after it is missing.
  void rewind(const UsnRecord& record, u64 position, bool lossless);

  // Passes the record at `position`, forwards, undoing what was rewound there.
  void replay(u64 position);

  struct Path {
    std::string_view text;  // valid until the next call; without a '/' at its end: the root is ""
    bool whole;             // reaches the root
  };
  // The path at the moment that replay() has reached. It begins with the reference of a directory
  // (broken_path()) where nothing is known of that one.
  Path find(FileReference directory);

 private:
  struct Directory {
    u64 parent;
    u32 name;  // in names_
    friend bool operator==(Directory, Directory) = default;
  };
  struct Change {
    u64 position;
    u64 directory;
    Directory before;
    bool known;  // false: nothing was known
  };
  struct KnownDirectory {
    Directory value;
    u64 used = 0;  // the last age in which a path went through it
  };
  // For an expired age, it is only space for the next one.
  struct KnownPath {
    std::string text;
    std::size_t levels = 0;
    bool whole = false;
    u64 age = 0;
  };
  u32 name_of(StoredText text, const Directory* known);
  const KnownPath* kept_path(u64 directory) const;
  void read_path(u64 directory, KnownPath& path);

  std::unordered_map<u64, KnownDirectory> directories_;
  u64 newest_usn_ = 0;
  std::vector<std::string> names_;
  std::vector<Change> changes_;  // from the newest to the oldest
  std::unordered_map<u64, KnownPath> paths_;
  std::size_t paths_size_ = 0;  // bytes
  u64 age_ = 1;       // increases after each change of a directory that a path goes through
  u64 last_key_ = 0;  // the last request, and its path
  const KnownPath* last_path_ = nullptr;
  std::vector<u32> levels_;
  std::string scratch_;
};

}  // namespace coldtrace::ntfs
