#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coldtrace/ntfs/history/file_value.hpp"
#include "coldtrace/ntfs/snapshot.hpp"

namespace coldtrace::ntfs {

// One version of a name of a file, and the views that contain it. A view is the volume at one time:
// a shadow copy of it, or the present volume. Views have numbers from 0 on.
struct FileVersion {
  FileValue value;
  std::string line;                // the compared part of a snapshot line, instead of the value
  std::string shown;               // as the caller writes it, from the first view that contains it
  std::vector<std::size_t> views;  // ascending
};

// A file, by record and sequence, with all versions in the order of the views.
struct FileHistory {
  FileReference file;
  std::vector<FileVersion> versions;

  // Whether the view has any version of the file.
  [[nodiscard]] bool is_in(std::size_t view) const;
};

// The files of one volume that have a requested path in any view. Views are read twice: all are
// searched before the first is collected. Memory grows with the files that are found, up to
// `most_versions` of them, and as many versions in total.
class VolumeHistory {
 public:
  static constexpr std::size_t most_versions = 10'000;

  // Patterns of paths, as for glob_matches(): ASCII case is ignored, '\' equals '/'.
  explicit VolumeHistory(const std::vector<std::string>& paths);

  // Removes from a row what must not be shown; called by the worker with that number, from 0 up to
  // `jobs`. The row belongs to the function.
  using Hide = std::function<void(unsigned worker, FileRow& row)>;
  // Records which files have such a path in this view. The findings are those of all its rows, as
  // `hide` leaves them.
  void search(const Snapshot& snapshot, unsigned jobs, core::Findings& findings,
              const Hide& hide = {});

  // The output for a row, written by such a worker.
  using Show = std::function<std::string(unsigned worker, FileRow& row)>;
  // Adds the names of those files in the view, and their data there. A version equals that of an
  // earlier view if all its values do. The findings are those of the walk that search() has not
  // told already.
  void collect(const Snapshot& snapshot, std::size_t view, unsigned jobs, core::Findings& findings,
               const Show& show);

  // The same for rows of a snapshot, one by one: the name of a file, and its state.
  struct Row {
    std::string_view path;
    FileReference file;
    State state;
  };
  // As search() of a snapshot.
  void search(const Row& row);
  // Whether a row belongs to a file that was found, and is collected.
  [[nodiscard]] bool has(const Row& row) const;
  // `line` is the compared part of such a row; other rows add nothing.
  void collect(const Row& row, std::size_t view, std::string line, std::string shown);

  [[nodiscard]] const std::vector<FileHistory>& files() const { return files_; }
  // For each pattern, whether any view has such a path.
  [[nodiscard]] const std::vector<bool>& found() const { return found_; }
  // Whether files or versions were left out.
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
