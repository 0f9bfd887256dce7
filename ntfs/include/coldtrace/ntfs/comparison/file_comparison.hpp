#pragma once

#include <array>
#include <functional>
#include <string_view>
#include <vector>

#include "coldtrace/ntfs/comparison/compared_files.hpp"

namespace coldtrace::ntfs {

// How a file of one volume differs from the file with the same reference in the other.
enum class FileChange : u8 {
  created,
  deleted,
  renamed,         // another name in the same directory
  moved,           // into another directory
  linked,          // one more name
  unlinked,        // one name fewer
  resized,         // a stream
  stream_created,  // a named one, or a file's unnamed one
  stream_deleted,
  relocated,   // bytes of a stream lie elsewhere
  touched,     // times
  attributes,  // flags
  owner,
  metadata,  // other members
};
constexpr std::size_t file_change_count = 14;
[[nodiscard]] std::string_view to_string(FileChange change);

// A name of a file that differs between the volumes.
struct NameDifference {
  FileChange change;           // renamed, moved, linked, unlinked
  const ComparedName* before;  // null for linked
  const ComparedName* after;   // null for unlinked
};

// A stream of a file that differs between the volumes.
struct StreamDifference {
  const ComparedStream* before;  // null for a new one
  const ComparedStream* after;
  bool resized = false;
  bool relocated = false;
};

// How one file changed.
struct FileDifference {
  FileReference file;
  std::optional<ComparedFile> before;  // absent if the file was created
  std::optional<ComparedFile> after;
  std::vector<NameDifference> names;
  std::vector<StreamDifference> streams;
  bool touched = false;
  bool attributes = false;
  bool owner = false;
  bool unknown = false;  // one side has parts that may be lost in the other
  // Other differences, each once: compared_members, "short_name" and "fn" of names in both, and for
  // streams in both "flags", and if the size is the same, "valid" and "clusters" (the place
  // differs, or only one has a place).
  std::vector<std::string_view> metadata;

  [[nodiscard]] std::vector<FileChange> changes() const;  // each once, in the order of the enum
};

// Number of compared files, and of those with each change; a file may have several.
struct ComparisonCounts {
  u64 before = 0;  // files
  u64 after = 0;
  u64 unchanged = 0;
  // Of one side, where gaps or damage of the other leave open if it has them, or parts of them;
  // without those that differ in other ways.
  u64 unknown = 0;
  std::array<u64, file_change_count> changes{};
  void add(const ComparisonCounts& other);
  [[nodiscard]] bool same() const { return unchanged == before && unchanged == after; }
};

// Calls `visit` for each file that differs, by record and sequence.
core::Result<ComparisonCounts> compare_files(
    const ComparedFiles& before, const ComparedFiles& after,
    const std::function<void(const FileDifference&)>& visit);

}  // namespace coldtrace::ntfs
