#pragma once

#include <optional>
#include <vector>

#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// $Bitmap: which clusters are somebody's. Read where it is asked, a block at a time.
class AllocationBitmap {
 public:
  explicit AllocationBitmap(const Volume& volume);

  // Nothing where it cannot be read.
  std::optional<bool> is_allocated(u64 cluster);

 private:
  static constexpr u64 block_size = 4096;

  const Volume& volume_;
  std::vector<Extent> extents_;
  u64 size_ = 0;
  std::optional<u64> block_;  // that is in memory
  bool readable_ = false;
  std::vector<std::byte> bytes_;
};

}  // namespace coldtrace::ntfs
