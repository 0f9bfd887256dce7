#include "ntfs/boot_sector.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "core/text.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;

constexpr u64 largest_cluster = u64{1} << 24;

// 1 to 128 sectors as they are, and 2^(256-n) sectors for 0xf4 and above; 0 for the rest.
u64 sectors_per_cluster(u8 encoded) {
  if (encoded >= 0xf4) return u64{1} << (256 - encoded);
  return std::has_single_bit(encoded) ? encoded : 0;
}

// Clusters when positive, 2^-n bytes when negative; 0 when impossible.
u64 structure_size(u8 encoded, u64 cluster_size) {
  const auto value = static_cast<i8>(encoded);
  if (value >= 0) return encoded * cluster_size;
  return value < -31 ? 0 : u64{1} << -value;
}

bool is_structure_size(u64 size) {
  return std::has_single_bit(size) && size >= 512 && size <= 65536;
}

}  // namespace

core::Result<BootSector> read_boot_sector(core::ByteView sector, u64 offset) {
  core::Reader in{sector, "$Boot", offset};
  in.skip(3, "Jump");
  in.expect<u64>(0x2020'2020'5346'544e, "OemId");  // "NTFS    "
  const u16 bytes_per_sector = in.read_u16("BytesPerSector");
  if (!std::has_single_bit(bytes_per_sector) || bytes_per_sector < 256 || bytes_per_sector > 4096)
    in.reject(Fault::bad_value, offset + 0x0b, "BytesPerSector", 512, bytes_per_sector);
  const u8 encoded_cluster = in.read_u8("SectorsPerCluster");
  const u64 cluster_sectors = sectors_per_cluster(encoded_cluster);
  const u64 cluster_size = cluster_sectors * bytes_per_sector;
  if (cluster_size == 0 || cluster_size > largest_cluster)
    in.reject(Fault::bad_value, offset + 0x0d, "SectorsPerCluster", 8, encoded_cluster);
  in.skip(0x28 - 0x0e, "FatFields");
  const u64 total_sectors = in.read_u64("TotalSectors");
  const u64 clusters = cluster_sectors == 0 ? 0 : total_sectors / cluster_sectors;
  if (clusters == 0 || clusters > ~u64{0} / largest_cluster)
    in.reject(Fault::bad_value, offset + 0x28, "TotalSectors", ~u64{0} / largest_cluster,
              total_sectors);
  const u64 mft = in.read_u64("MftLcn");
  const u64 mirror = in.read_u64("MftMirrLcn");
  const u8 encoded_record = in.read_u8("ClustersPerRecord");
  const u64 record_size = structure_size(encoded_record, cluster_size);
  if (!is_structure_size(record_size))
    in.reject(Fault::bad_value, offset + 0x40, "ClustersPerRecord", 0xf6, encoded_record);
  in.skip(3, "Padding");
  const u8 encoded_index = in.read_u8("ClustersPerIndex");
  in.skip(3, "Padding");
  const u64 serial = in.read_u64("SerialNumber");
  in.skip(0x1fe - 0x50, "BootCode");
  const u16 marker = in.read_u16("EndMarker");
  return in.finish(BootSector{bytes_per_sector, static_cast<u32>(cluster_size), total_sectors,
                              clusters, Lcn{mft}, Lcn{mirror}, static_cast<u32>(record_size),
                              static_cast<u32>(structure_size(encoded_index, cluster_size)), serial,
                              marker == 0xaa55});
}

VolumeKind identify_volume(core::ByteView sector) {
  // Source: Microsoft, BitLocker To Go reader; the GUID 4967d63b-2e29-4ad8-8399-f6a339e3d001.
  constexpr std::array<u8, 16> to_go = {0x3b, 0xd6, 0x67, 0x49, 0x29, 0x2e, 0xd8, 0x4a,
                                        0x83, 0x99, 0xf6, 0xa3, 0x39, 0xe3, 0xd0, 0x01};
  const auto chars = [&](u64 offset, u64 length) {
    const auto view = core::slice(sector, offset, length);
    return view ? core::to_chars(*view) : std::string_view{};
  };
  if (chars(3, 8) == "NTFS    ") return VolumeKind::ntfs;
  if (chars(3, 8) == "-FVE-FS-") return VolumeKind::bitlocker;
  if (const auto guid = core::slice(sector, 0x1a8, 16);
      guid && std::ranges::equal(*guid, std::as_bytes(std::span{to_go})))
    return VolumeKind::bitlocker;
  if (chars(3, 4) == "ReFS") return VolumeKind::refs;
  if (chars(3, 8) == "EXFAT   ") return VolumeKind::exfat;
  if (chars(0x36, 3) == "FAT" || chars(0x52, 5) == "FAT32") return VolumeKind::fat;
  if (std::ranges::all_of(sector, [](std::byte byte) { return byte == std::byte{0}; }))
    return VolumeKind::empty;
  return VolumeKind::unknown;
}

std::string_view to_string(VolumeKind kind) {
  switch (kind) {
    case VolumeKind::ntfs:
      return "an NTFS volume";
    case VolumeKind::bitlocker:
      return "a BitLocker volume (encrypted)";
    case VolumeKind::refs:
      return "a ReFS volume";
    case VolumeKind::exfat:
      return "an exFAT volume";
    case VolumeKind::fat:
      return "a FAT volume";
    case VolumeKind::empty:
      return "an empty sector (wiped or never formatted)";
    case VolumeKind::unknown:
      return "not a known volume";
  }
  return "not a known volume";
}

}  // namespace coldtrace::ntfs
