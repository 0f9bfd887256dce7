#pragma once

#include <array>
#include <optional>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/ntfs/structures/reference.hpp"

namespace coldtrace::ntfs {

// Geometry of a volume, all sizes in bytes.
// Source: linux-ntfs documentation, "$Boot"; encodings of sizes above 64 KiB and below zero
// observed on volumes made by Windows 10.
struct BootSector {
  static constexpr std::size_t size_on_disk = 512;
  u32 bytes_per_sector;
  u32 cluster_size;
  u64 total_sectors;  // of the volume; its backup boot sector follows them
  u64 clusters;
  Lcn mft;
  Lcn mft_mirror;
  u32 record_size;
  u32 index_size;  // of new directories; each directory states its own
  u64 serial_number;
  bool end_marker;        // whether 55 AA is present
  bool inferred = false;  // no boot sector was read: sectors and serial number are unknown

  [[nodiscard]] u64 volume_size() const { return clusters * cluster_size; }
  // Where the volume starts whose copy of the boot sector, behind its last sector, is at `copy`.
  // Absent where that is before byte 0.
  [[nodiscard]] std::optional<u64> start_before(u64 copy) const;
};

// Bytes in a cluster, a power of two. Source: Microsoft, "NTFS overview": up to 2048 KB since
// Windows 10 1709 and Windows Server 2019.
inline constexpr u64 largest_cluster = u64{1} << 21;

// Bytes in a sector: the copy of a boot sector lies one of them before the end of its volume.
inline constexpr std::array<u64, 4> sector_sizes{512, 1024, 2048, 4096};

// `sector` lies at byte `offset` of the image.
core::Result<BootSector> read_boot_sector(core::ByteView sector, u64 offset);

}  // namespace coldtrace::ntfs
