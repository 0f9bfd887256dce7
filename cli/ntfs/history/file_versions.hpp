#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "coldtrace/ntfs/reference.hpp"
#include "coldtrace/ntfs/snapshot.hpp"

namespace coldtrace::cli {

// What a volume was at one time: a shadow copy of it, or the volume as it is now.
struct HistoryView {
  ntfs::Partition partition;
  bool opened = false;
};

// One name of a file with all that is known of it, in each view that has it so.
struct FileVersion {
  std::string metadata;  // as JSON, without what says where it was read
  std::string summary;   // of text: size, times, streams and where they lie
  std::string path;
  std::vector<std::size_t> views;  // in order
};

// A file, by record and sequence, with all versions in the order of the views.
struct FileHistory {
  ntfs::FileReference file;
  std::vector<FileVersion> versions;

  bool is_in(std::size_t view) const;
};

// The files of one volume that have, in any view, a path that is asked for.
class VolumeHistory {
 public:
  static constexpr std::size_t most_versions = 10'000;

  // Patterns of paths: ASCII letters are alike, '\' is '/'.
  explicit VolumeHistory(const std::vector<std::string>& paths);

  // First all views are searched for what has such a path, then each is asked for what those files
  // are called in it.
  void search(const ntfs::Snapshot& snapshot, unsigned jobs);
  void collect(const ntfs::Snapshot& snapshot, std::size_t view, unsigned jobs);

  const std::vector<FileHistory>& files() const { return files_; }
  // Of each pattern, whether any view has such a path.
  const std::vector<bool>& found() const { return found_; }
  // Whether there are more files or versions than are kept.
  bool limited() const { return limited_; }

 private:
  struct Batch;

  std::vector<std::string> paths_;
  std::vector<bool> found_;
  std::vector<FileHistory> files_;
  std::map<std::pair<u64, u16>, std::size_t> by_reference_;
  std::size_t versions_ = 0;
  bool limited_ = false;
};

}  // namespace coldtrace::cli
