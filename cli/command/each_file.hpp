#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "coldtrace/core/parallel.hpp"
#include "coldtrace/core/progress.hpp"

namespace coldtrace::cli {

// The size of a regular file; 0 for others, or if it is not known.
inline u64 size_of_file(const std::string& path) {
  std::error_code unknown;
  const auto size = std::filesystem::file_size(path, unknown);
  return unknown ? 0 : size;
}
inline u64 size_of_files(const std::vector<std::string>& paths) {
  u64 size = 0;
  for (const auto& path : paths) size += size_of_file(path);
  return size;
}

// Calls work(worker, path, Item&), which fills an item that may have been used before, for every
// file on up to `jobs` threads, and take(path, Item&) in the order of the files, so that the output
// is always the same. `progress` is told of each file taken.
template <class Item, class Work, class Take>
void for_each_file(const std::vector<std::string>& files, unsigned jobs, core::Progress& progress,
                   Work&& work, Take&& take) {
  struct File {
    std::size_t index = 0;
    Item item;
  };
  std::size_t next = 0;
  core::ordered_pipeline<File>(
      static_cast<unsigned>(std::min<std::size_t>(jobs, files.size())),
      [&](File& file) {
        file.index = next++;
        return file.index < files.size();
      },
      [&](unsigned worker, File& file) { work(worker, files[file.index], file.item); },
      [&](File& file) {
        take(files[file.index], file.item);
        progress.add(size_of_file(files[file.index]), 1);
      });
}

}  // namespace coldtrace::cli
