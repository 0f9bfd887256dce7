#pragma once

#include <optional>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// $Bitmap: which clusters are allocated, one bit each, the least significant of a byte first. Read
// on demand, a block at a time. Source: linux-ntfs documentation, "$Bitmap".
class AllocationBitmap {
 public:
  // The volume has to outlive it.
  explicit AllocationBitmap(core::Borrowed<Volume> volume);

  // Nothing if it cannot be read.
  std::optional<bool> is_allocated(u64 cluster);

  struct Count {
    u64 allocated = 0;
    u64 unknown = 0;  // beyond the end of the bitmap, or unreadable
  };
  // Counts the clusters from `start` up to but not including `end`.
  Count count(u64 start, u64 end);

 private:
  static constexpr u64 block_size = 4096;

  // Loads the block with this byte; whether it could be read.
  bool load(u64 byte);
  u64 count_bits(u64 start, u64 end) const;

  const Volume& volume_;
  std::vector<Extent> extents_;
  u64 size_ = 0;              // in bytes, at most that of the image
  std::optional<u64> block_;  // the one in memory
  bool readable_ = false;
  std::vector<std::byte> bytes_;
};

}  // namespace coldtrace::ntfs
