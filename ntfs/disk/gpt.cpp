#include <algorithm>
#include <array>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/checksums.hpp"
#include "coldtrace/core/utf16.hpp"
#include "coldtrace/ntfs/disk/partition.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr u64 signature = 0x5452'4150'2049'4645;  // "EFI PART"
constexpr u64 header_size = 92;
constexpr u32 most_entries = 4096;

struct Header {
  u64 entries_lba;
  u32 entry_count;
  u32 entry_size;
  u32 entries_crc;
};

// The header at `offset`; its checksum covers it with the checksum itself as zero.
std::optional<Header> read_header(const core::ImageSource& image, u64 offset) {
  std::array<std::byte, 512> sector{};
  if (!image.read_at(offset, sector)) return std::nullopt;
  const auto fields = *core::Fields<header_size>::at(sector, 0);
  const u32 size = fields.get<u32, 12>();
  if (fields.get<u64, 0>() != signature || size < header_size || size > sector.size())
    return std::nullopt;
  const u32 crc = fields.get<u32, 16>();
  Header header{fields.get<u64, 72>(), fields.get<u32, 80>(), fields.get<u32, 84>(),
                fields.get<u32, 88>()};
  std::ranges::fill(std::span{sector}.subspan(16, 4), std::byte{0});
  if (core::crc32(core::ByteView{sector}.first(size)) != crc) return std::nullopt;
  if (header.entry_size < 128 || header.entry_size > 4096) return std::nullopt;
  return header;
}

std::vector<std::byte> read_entries(const core::ImageSource& image, const Header& header,
                                    u32 sector_size) {
  std::vector<std::byte> entries(u64{std::min(header.entry_count, most_entries)} *
                                 header.entry_size);
  const u64 offset = core::saturating_multiply(header.entries_lba, sector_size);
  if (!image.read_at(offset, entries)) entries.clear();
  return entries;
}

// Stretches of disks that are joined to volumes by a database, which is not read. Source:
// diskguid.h of the Windows SDK, PARTITION_SPACES_GUID, PARTITION_LDM_DATA_GUID,
// PARTITION_LDM_METADATA_GUID.
void tell_joined(Partition& partition, u64 entry_offset, core::Findings& findings) {
  if (partition.type == "e75caf8f-f680-4cee-afa3-b001e56efc2d") {
    if (may_be_damaged(partition.kind)) partition.kind = core::FileKind::storage_pool;
    findings.info("partition-storage-space", entry_offset,
                  "partition {} belongs to a storage pool, whose storage spaces are not searched",
                  partition.number);
  }
  if (partition.type == "af9b60a0-1431-4f62-bc68-3311714a69ad" ||
      partition.type == "5808c8aa-7e8f-42e0-85d2-e1e90434cfb3")
    findings.info("partition-dynamic", entry_offset,
                  "partition {} belongs to dynamic disks, whose volumes are not searched",
                  partition.number);
}

void add_entries(const core::ImageSource& image, core::ByteView entries, const Header& header,
                 Disk& disk, core::Findings& findings) {
  const u32 entry_size = header.entry_size;
  const u64 table = core::saturating_multiply(header.entries_lba, disk.sector_size);
  for (u64 at = 0; at + entry_size <= entries.size(); at += entry_size) {
    const auto bytes = entries.subspan(at, entry_size);
    const auto type = core::to_guid(bytes);
    if (type == core::Guid{}) continue;
    const u64 first = *core::load<u64>(bytes, 32);
    const u64 last = *core::load<u64>(bytes, 40);
    const u64 offset = core::saturating_multiply(first, disk.sector_size);
    Partition partition{
        .number = static_cast<u32>(at / entry_size + 1),
        .offset = offset,
        .size = last < first ? 0 : core::saturating_multiply(last - first + 1, disk.sector_size),
        .type = core::to_string(type),
        .name = core::decode_utf16(core::until_nul_unit(bytes.subspan(56, 72))).utf8,
        .kind = identify_at(image, offset)};
    tell_joined(partition, core::saturating_add(table, at), findings);
    disk.partitions.push_back(std::move(partition));
  }
}

}  // namespace

bool read_gpt(const core::ImageSource& image, Disk& disk, core::Findings& findings) {
  for (const u32 sector_size : {512U, 4096U}) {
    const u64 last = image.size() < sector_size ? 0 : image.size() - sector_size;
    for (const u64 offset : {u64{sector_size}, last}) {
      const auto header = read_header(image, offset);
      if (!header) continue;
      const auto entries = read_entries(image, *header, sector_size);
      const bool intact = !entries.empty() && core::crc32(entries) == header->entries_crc;
      // The second copy is at the end of the disk, and may be better.
      if (!intact && offset != last) {
        findings.warning("gpt-damaged", offset,
                         "the partition entries do not match their checksum");
        if (read_header(image, last)) continue;
      }
      if (offset == last)
        findings.warning("gpt-damaged", sector_size,
                         "the GUID partition table is not usable, its copy at {:#x} is used", last);
      disk.kind = DiskKind::gpt;
      disk.sector_size = sector_size;
      add_entries(image, entries, *header, disk, findings);
      return true;
    }
  }
  return false;
}

}  // namespace coldtrace::ntfs
