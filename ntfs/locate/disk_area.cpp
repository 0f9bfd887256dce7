#include "coldtrace/ntfs/locate/disk_area.hpp"

namespace coldtrace::ntfs {
namespace {

bool is_inside(u64 offset, u64 start, u64 size) {
  return offset >= start && offset - start < size;
}

}  // namespace

DiskArea find_area(u64 offset, u64 image_size, std::span<const VolumeArea> volumes,
                   std::span<const Partition> partitions) {
  using Kind = DiskArea::Kind;
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const auto& map = volumes[i].clusters;
    // A boot sector with more bytes than 64 bits count is refused.
    if (is_inside(offset, map.volume_offset, map.clusters * map.cluster_size))
      return {Kind::clusters, i};
  }
  if (offset >= image_size) return {Kind::outside_image};
  for (std::size_t i = 0; i < volumes.size(); ++i)
    if (is_inside(offset, volumes[i].offset, volumes[i].size)) return {Kind::outside_volume, i};
  for (std::size_t i = 0; i < partitions.size(); ++i)
    if (is_inside(offset, partitions[i].offset, partitions[i].size))
      return {Kind::other_partition, i};
  return {Kind::unpartitioned};
}

}  // namespace coldtrace::ntfs
