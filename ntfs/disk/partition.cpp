#include "coldtrace/ntfs/disk/partition.hpp"

#include <array>

#include "coldtrace/ntfs/structures/boot_sector.hpp"

namespace coldtrace::ntfs {

std::string_view to_string(DiskKind kind) {
  switch (kind) {
    case DiskKind::volume:
      return "volume";
    case DiskKind::mbr:
      return "mbr";
    case DiskKind::gpt:
      return "gpt";
    case DiskKind::lost:
      return "lost";
  }
  return "unknown";
}

core::FileKind identify_at(const core::ImageSource& image, u64 offset) {
  std::array<std::byte, 1536> head{};
  if (image.read_at(offset, head)) return core::recognize_volume(head);
  const auto sector = std::span{head}.first<512>();
  return image.read_at(offset, sector) ? core::recognize_volume(sector) : core::FileKind::unknown;
}

bool ends_with_ntfs_boot_sector(const core::ImageSource& image) {
  std::array<std::byte, BootSector::size_on_disk> sector{};
  for (const u64 back : sector_sizes) {
    if (back > image.size() || !image.read_at(image.size() - back, sector)) continue;
    const auto boot = read_boot_sector(sector, image.size() - back);
    if (boot && boot->start_before(image.size() - back) == 0) return true;
  }
  return false;
}

std::vector<Partition> find_ntfs_partitions(const Disk& disk) {
  std::vector<Partition> found;
  for (const auto& partition : disk.partitions)
    if (partition.kind == core::FileKind::ntfs_volume ||
        (may_be_damaged(partition.kind) &&
         (partition.type == "0x07" || partition.type == "ebd0a0a2-b9e5-4433-87c0-68b6b72699c7")))
      found.push_back(partition);
  if (found.empty() && disk.kind == DiskKind::volume &&
      may_be_damaged(disk.partitions.front().kind))
    return disk.partitions;
  return found;
}

Disk read_disk(const core::ImageSource& image, core::Findings& findings, std::optional<u64> asked) {
  std::array<std::byte, 512> sector{};
  if (const auto read = image.read_at(0, sector); !read && read.error().fault == core::Fault::io)
    findings.warning("first-sector", read.error().offset,
                     "the first sector cannot be read, nor any MBR partition table in it: {}",
                     read.error());
  Disk disk{.kind = DiskKind::volume, .sector_size = 512, .partitions = {}};
  const auto kind = core::recognize_volume(sector);
  const bool volume = kind != core::FileKind::unknown && kind != core::FileKind::zeros;
  if (!volume) {
    if (read_gpt(image, disk, findings)) {
      tell_unlisted_volumes(image, disk, asked, findings);
      return disk;
    }
    if (looks_like_mbr(sector)) {
      disk.kind = DiskKind::mbr;
      read_mbr(image, sector, disk, findings);
      tell_unlisted_volumes(image, disk, asked, findings);
      return disk;
    }
    // Of a volume alone the files may hold volumes.
    if (!ends_with_ntfs_boot_sector(image) && find_lost_volumes(image, disk, findings)) return disk;
  }
  disk.partitions.push_back(
      {.number = 0, .offset = 0, .size = image.size(), .kind = identify_at(image, 0)});
  return disk;
}

}  // namespace coldtrace::ntfs
