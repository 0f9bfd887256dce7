#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/ntfs/record_table.hpp"

namespace coldtrace::ntfs {

// Longer paths start with the directory where they were cut. Source: Windows limits paths to 32,767
// units, which are at most three bytes each.
constexpr std::size_t longest_path = std::size_t{96} * 1024;

// "<parent 1234-5>": the start of a path that does not reach the root.
[[nodiscard]] std::string broken_path(FileReference directory);

// Paths of directories by the names in their records: for what no index reaches.
class PathChain {
 public:
  explicit PathChain(core::Borrowed<RecordTable> records) : records_{records.get()} {}

  struct Path {
    std::string_view text;  // exact; valid until the next call; without a trailing '/'
    bool whole;             // reaches the root
    bool live;              // all directories of the path are in use
  };

  // The path of the directory that a name gives as its parent. The chain continues while the
  // sequence numbers agree: the same, or one more for a deleted directory.
  Path find(FileReference directory);

 private:
  // The parent of a directory; the root is its own.
  struct Parent {
    FileReference reference = {};
    StoredText name = {};
    bool valid = false;
    bool in_use = false;
  };
  Parent parent_of(FileReference directory);
  Parent read_parent(u64 directory);

  const RecordTable& records_;
  RecordFacts facts_;
  std::unordered_map<u64, Parent> joined_;  // of directories with an attribute list
  FileReference last_;
  bool has_last_ = false;
  std::string text_;
  bool whole_ = false;
  bool live_ = false;
};

}  // namespace coldtrace::ntfs
