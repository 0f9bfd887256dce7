#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coldtrace/ntfs/history/file_value.hpp"
#include "coldtrace/ntfs/snapshot.hpp"

namespace coldtrace::ntfs {

// One name of a file with all that is known of it, in each view that has it so. A view is the
// volume at one time: a shadow copy of it, or the volume as it is now; views have numbers from 0
// on.
struct FileVersion {
  FileValue value;
  std::string line;                // a snapshot's, of what is compared, in place of the value
  std::string shown;               // as the caller writes it, of the first view that has it
  std::vector<std::size_t> views;  // ascending
};

// A file, by record and sequence, with all versions in the order of the views.
struct FileHistory {
  FileReference file;
  std::vector<FileVersion> versions;

  // Whether the view has any version of the file.
  [[nodiscard]] bool is_in(std::size_t view) const;
};

// The files of one volume that have, in any view, a path that is asked for. Views are looked at
// twice: all are searched before the first is collected. Memory grows with the files that are
// found, up to `most_versions` of them, and as many versions in all.
class VolumeHistory {
 public:
  static constexpr std::size_t most_versions = 10'000;

  // Patterns of paths, as glob_matches() has them: ASCII letters are alike, '\' is '/'.
  explicit VolumeHistory(const std::vector<std::string>& paths);

  // Remembers which files have such a path in this view.
  void search(const Snapshot& snapshot, unsigned jobs);

  // What is written of a row, by the worker of that number, from 0 up to `jobs`. The row is its
  // own.
  using Show = std::function<std::string(unsigned worker, FileRow& row)>;
  // Adds what those files are called in the view, and what is known of them there. A version that
  // an earlier view has is the same when all its values are.
  void collect(const Snapshot& snapshot, std::size_t view, unsigned jobs, const Show& show);

  // The same of rows of a snapshot, one by one: which name a file has, and in which state.
  struct Row {
    std::string_view path;
    FileReference file;
    State state;
  };
  // As search() of a snapshot.
  void search(const Row& row);
  // Whether a row is of a file that was found, and is collected.
  [[nodiscard]] bool has(const Row& row) const;
  // `line` is what is compared of such a row; others add nothing.
  void collect(const Row& row, std::size_t view, std::string line, std::string shown);

  [[nodiscard]] const std::vector<FileHistory>& files() const { return files_; }
  // Of each pattern, whether any view has such a path.
  [[nodiscard]] const std::vector<bool>& found() const { return found_; }
  // Whether there are more files or versions than are kept.
  [[nodiscard]] bool limited() const { return limited_; }

 private:
  struct Batch;

  void remember(const FileReference& file);
  void add(const FileReference& file, FileVersion version);

  std::vector<std::string> paths_;
  std::vector<bool> found_;
  std::vector<FileHistory> files_;
  std::map<std::pair<u64, u16>, std::size_t> by_reference_;
  std::size_t versions_ = 0;
  bool limited_ = false;
};

}  // namespace coldtrace::ntfs
