#include "cli/ntfs/rows/row_times.hpp"

namespace coldtrace::cli {

std::optional<u64> timeline_size(const ntfs::FileRow& row) {
  if (const auto* content = row.content()) return content->size;
  return row.source->entry ? std::optional{row.source->entry->size} : std::nullopt;
}

bool is_directory(const ntfs::FileRow& row) {
  const auto& entry = row.source->entry;
  return row.facts.directory || (entry && !row.source->has_record &&
                                 (entry->attributes & ntfs::FileName::directory_flag) != 0);
}

bool is_allocated(ntfs::State state) {
  return state != ntfs::State::deleted && state != ntfs::State::slack &&
         state != ntfs::State::stale;
}

}  // namespace coldtrace::cli
