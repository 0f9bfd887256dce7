#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/parallel.hpp"

namespace coldtrace::cli {

// Calls work(worker, path, Item&), which fills an item that may have been used, for every file on
// up to `jobs` threads, and take(path, Item&) on this one, in the order of the files: the output is
// always the same.
template <class Item, class Work, class Take>
void for_each_file(const std::vector<std::string>& files, unsigned jobs, Work&& work, Take&& take) {
  // Handing over one small file costs as much as reading it.
  constexpr std::size_t files_per_batch = 4;
  struct Batch {
    std::size_t first = 0;
    std::size_t count = 0;
    std::array<Item, files_per_batch> items;
  };
  const auto batches = (files.size() + files_per_batch - 1) / files_per_batch;
  std::size_t next = 0;
  core::ordered_pipeline<Batch>(
      static_cast<unsigned>(std::min<std::size_t>(jobs, batches)),
      [&](Batch& batch) {
        batch.first = next;
        batch.count = std::min(files_per_batch, files.size() - next);
        next += batch.count;
        return batch.count > 0;
      },
      [&](unsigned worker, Batch& batch) {
        for (std::size_t i = 0; i < batch.count; ++i)
          work(worker, files[batch.first + i], batch.items[i]);
      },
      [&](Batch& batch) {
        for (std::size_t i = 0; i < batch.count; ++i) take(files[batch.first + i], batch.items[i]);
      });
}

}  // namespace coldtrace::cli
