#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coldtrace/ntfs/journal/usn_record.hpp"
#include "coldtrace/ntfs/record_table.hpp"

namespace coldtrace::ntfs {

// Names and parents of directories as they were at any record of a change journal. A journal has
// a parent's reference and not its path, and directories are renamed: rewind() goes from the
// newest record to the oldest, then replay() from the oldest to the newest. Memory grows with the
// number of directories and of their changes.
class DirectoryHistory {
 public:
  // Starts with what $MFT has: directories in use, and those deleted under the sequence number
  // that they had.
  void start_from(const RecordTable& records);

  // The largest number of a record of the journal that a directory in use states; 0: none does.
  [[nodiscard]] u64 newest_usn() const { return newest_usn_; }

  // What a record says of its file holds at it and before it, until an older record speaks of the
  // same file. Of a directory that nothing newer speaks of it holds behind it too, where
  // `lossless`: no record behind it is missing.
  void rewind(const UsnRecord& record, u64 position, bool lossless);

  // Passes the record at `position`, forwards: what was rewound there is undone.
  void replay(u64 position);

  struct Path {
    std::string_view text;  // valid until the next call; without a '/' at its end: the root is ""
    bool whole;             // reaches the root
  };
  // Where replay() has come to. Of a directory that nothing is known of the text is a placeholder
  // with its reference.
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
    bool known;  // false: nothing was
  };
  struct KnownDirectory {
    Directory value;
    u64 used = 0;  // the last age of paths of which one goes through it
  };
  // Of an age that is over it is only room for the next one.
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
  u64 age_ = 1;       // one more behind each change of a directory that a path goes through
  u64 last_key_ = 0;  // what was asked for last, and its path
  const KnownPath* last_path_ = nullptr;
  std::vector<u32> levels_;
  std::string scratch_;
};

}  // namespace coldtrace::ntfs
