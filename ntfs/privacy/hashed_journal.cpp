#include "coldtrace/ntfs_privacy/hashed_journal.hpp"

namespace coldtrace::ntfs {

void JournalHasher::hash(JournalBatch& batch) {
  names_.clear();
  paths_.clear();
  const auto& names = names_.names();
  std::string_view last;  // rows of one directory follow each other
  std::size_t start = 0;
  for (auto& row : batch.rows) {
    const auto directory = batch.directory_of(row);
    if (directory != last || start == paths_.size()) {
      last = directory;
      start = paths_.size();
      append_hashed_path(paths_, names, directory);
    }
    row.path_start = start;
    row.path_length = paths_.size() - start;
    row.record.name = names_.hash_of_file(row.record.file.record, row.record.name);
  }
  for (auto& event : batch.events) {
    std::string path;
    append_hashed_path(path, names, event.old_path);
    event.old_path = std::move(path);
  }
  batch.paths = paths_;
}

}  // namespace coldtrace::ntfs
