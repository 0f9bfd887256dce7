#pragma once

#include <optional>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// $Bitmap: which clusters are somebody's, a bit for each, the least significant of a byte first.
// Read where it is asked, a block at a time. Source: linux-ntfs documentation, "$Bitmap".
class AllocationBitmap {
 public:
  // The volume outlives it.
  explicit AllocationBitmap(core::Borrowed<Volume> volume);

  // Nothing where it cannot be read.
  std::optional<bool> is_allocated(u64 cluster);

  struct Count {
    u64 allocated = 0;
    u64 unknown = 0;  // the bitmap ends before them, or cannot be read there
  };
  // Of the clusters from `start` up to `end`, which is none of them.
  Count count(u64 start, u64 end);

 private:
  static constexpr u64 block_size = 4096;

  // Whether the block that has this byte could be read.
  bool load(u64 byte);
  u64 count_bits(u64 start, u64 end) const;

  const Volume& volume_;
  std::vector<Extent> extents_;
  u64 size_ = 0;              // bytes, and no more than the image has
  std::optional<u64> block_;  // that is in memory
  bool readable_ = false;
  std::vector<std::byte> bytes_;
};

}  // namespace coldtrace::ntfs
