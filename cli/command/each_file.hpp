#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "coldtrace/core/parallel.hpp"

namespace coldtrace::cli {

// Calls work(worker, path, Item&), which fills an item that may have been used, for every file on
// up to `jobs` threads, and take(path, Item&) in the order of the files: the output is always the
// same.
template <class Item, class Work, class Take>
void for_each_file(const std::vector<std::string>& files, unsigned jobs, Work&& work, Take&& take) {
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
      [&](File& file) { take(files[file.index], file.item); });
}

}  // namespace coldtrace::cli
