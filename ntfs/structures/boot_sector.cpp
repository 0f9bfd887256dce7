#include "coldtrace/ntfs/structures/boot_sector.hpp"

#include <bit>

#include "coldtrace/core/checked.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;

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

std::optional<u64> BootSector::start_before(u64 copy) const {
  const auto size = core::checked_multiply(total_sectors, u64{bytes_per_sector});
  if (!size || *size > copy) return std::nullopt;
  return copy - *size;
}

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

}  // namespace coldtrace::ntfs
