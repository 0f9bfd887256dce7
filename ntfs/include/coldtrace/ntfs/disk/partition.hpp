#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/file_time.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/guid.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/structures/boot_sector.hpp"

namespace coldtrace::ntfs {

// The time of a volume that a shadow copy shows.
struct ShadowMoment {
  u32 number;  // of the copy, from 1, the oldest
  core::FileTime created;
};

// A range of a disk. Numbers start with 1 in the order of the table, those of logical MBR
// partitions with 5.
struct Partition {
  u32 number;
  u64 offset;  // bytes
  u64 size;
  std::string type;                         // "0x07", or a GUID
  std::string name;                         // of a GPT entry
  core::FileKind kind;                      // by its first sectors
  std::optional<ShadowMoment> shadow = {};  // set: the volume as it was then, not as it is now
};

// How an image is divided.
enum class DiskKind : u8 {
  volume,
  mbr,
  gpt,
  lost,  // no table is usable, and the partitions are NTFS volumes that were found
};

[[nodiscard]] std::string_view to_string(DiskKind kind);

// The contents of an image: one volume without partitions, or a disk.
struct Disk {
  DiskKind kind;
  u32 sector_size;
  std::vector<Partition> partitions;  // for a volume: itself as number 0
};

// A first sector that cannot be read is a finding: a GUID partition table may follow it. A volume
// that starts at `asked` is read whatever a table says, and therefore not reported as unlisted.
[[nodiscard]] Disk read_disk(const core::ImageSource& image, core::Findings& findings,
                             std::optional<u64> asked = {});

// The partitions of each kind of table; both functions add to `disk.partitions`.
// Source: "Master boot record" of the PC BIOS, and UEFI specification 2.10, chapter 5.
void read_mbr(const core::ImageSource& image, core::ByteView first_sector, Disk& disk,
              core::Findings& findings);
bool read_gpt(const core::ImageSource& image, Disk& disk, core::Findings& findings);

// If no table is usable: NTFS volumes whose boot sector or its copy is where partitions begin or
// end. The search ends if longest_volume_search contains none, which is reported. False if there is
// none.
bool find_lost_volumes(const core::ImageSource& image, Disk& disk, core::Findings& findings);

// NTFS volumes between the partitions of a table: those whose boot sector, or its copy, is in the
// first 16 MiB of such a gap, where partitions begin or end, or in its last sector. Excludes the
// one that starts at `asked`.
void tell_unlisted_volumes(const core::ImageSource& image, const Disk& disk,
                           std::optional<u64> asked, core::Findings& findings);

// True if the sector has plausible partition entries.
[[nodiscard]] bool looks_like_mbr(core::ByteView first_sector);

// The kind of the volume at `offset`; unknown when it cannot be read.
[[nodiscard]] core::FileKind identify_at(const core::ImageSource& image, u64 offset);

// The partitions that are read as NTFS volumes: those whose first bytes are NTFS, and those whose
// partition type says NTFS and whose first bytes are of no known kind, which may have a copy of the
// boot sector or a $MFT. The same applies to a single volume.
[[nodiscard]] std::vector<Partition> find_ntfs_partitions(const Disk& disk);

// No known kind: what was there may be damaged.
[[nodiscard]] constexpr bool may_be_damaged(core::FileKind kind) {
  return kind == core::FileKind::unknown || kind == core::FileKind::zeros;
}

// True if the image ends with the copy of the boot sector of an NTFS volume that fills it.
[[nodiscard]] bool ends_with_ntfs_boot_sector(const core::ImageSource& image);

}  // namespace coldtrace::ntfs
