#pragma once

#include <span>

#include "coldtrace/ntfs/disk/partition.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// The place of a byte of the image on the disk, without reading any file system.
struct DiskArea {
  enum class Kind : u8 {
    clusters,         // of the volume `index`
    outside_volume,   // in the partition of a volume but in none of its clusters
    other_partition,  // in the partition `index`, in which no volume is known
    unpartitioned,
    outside_image,  // and outside all volumes, which a truncated image may not contain
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
