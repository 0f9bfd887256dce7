#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::trace_analysis {

// What a snapshot says about a name.
enum class NameState : u8 { live, detached, unreachable, unnamed, deleted, stale, slack };
[[nodiscard]] std::string_view to_string(NameState state);
// As ntfs snapshot writes it; nothing for other texts.
[[nodiscard]] std::optional<NameState> find_name_state(std::string_view text);
// Whether its file is in use, even if no directory lists it.
[[nodiscard]] bool is_in_use(NameState state);

// Which file has which bytes of a disk, according to a snapshot of its file systems.
class DiskMap {
 public:
  struct File {
    std::string path;
    NameState state;
  };

  // Keeps no more than this many bytes; what exceeds them is counted.
  explicit DiskMap(std::size_t largest_bytes) : left_{largest_bytes} {}

  // The number of the file, for its extents; nothing if it is left out.
  std::optional<u32> add_file(File file);
  // An extent that is empty, or ends beyond 2^64, is only counted.
  void add_extent(u32 file, u64 offset, u64 bytes);
  // To be called once, after all files. Among several that claim a place, those in use come first,
  // then those that were added first.
  void finish();

  // Nothing if no file has the byte.
  [[nodiscard]] const File* find(u64 offset) const;

  [[nodiscard]] std::size_t files() const { return files_.size(); }
  [[nodiscard]] std::size_t extents() const { return extents_.size(); }
  [[nodiscard]] u64 left_out() const { return left_out_; }  // files and extents
  [[nodiscard]] u64 impossible() const { return impossible_; }

 private:
  struct Extent {
    u64 from, to;
    u32 file;
  };
  bool is_before(u32 a, u32 b) const;
  bool take(std::size_t bytes);

  std::vector<File> files_;
  std::vector<Extent> extents_;  // in order and disjoint once finished
  std::size_t left_;
  u64 left_out_ = 0;
  u64 impossible_ = 0;  // extents
};

}  // namespace coldtrace::trace_analysis
