#pragma once

#include <span>

#include "coldtrace/ntfs/disk/partition.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// Where on a disk a byte of its image is, before any file system is asked.
struct DiskArea {
  enum class Kind : u8 {
    clusters,         // of the volume `index`
    outside_volume,   // in the partition of a volume and in no cluster of it
    other_partition,  // in the partition `index`, of which no volume is known
    unpartitioned,
    outside_image,  // and outside of all volumes, which an image that is cut off may not hold
  };
  Kind kind;
  std::size_t index = 0;
};

// A volume and its partition.
struct VolumeArea {
  ClusterMap clusters;
  u64 offset;  // of the partition
  u64 size;
};
[[nodiscard]] DiskArea find_area(u64 offset, u64 image_size, std::span<const VolumeArea> volumes,
                                 std::span<const Partition> partitions);

}  // namespace coldtrace::ntfs
