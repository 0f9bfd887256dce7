#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "coldtrace/ntfs/disk/partition.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr u64 table_offset = 0x1be;
constexpr u64 entry_size = 16;
constexpr u32 first_logical = 5;
constexpr u32 most_logical = 256;  // a chain of more is damage

struct Entry {
  u8 type;
  u64 start;  // sectors
  u64 count;
};

std::array<Entry, 4> read_entries(core::ByteView sector) {
  std::array<Entry, 4> entries{};
  for (u64 i = 0; i < 4; ++i) {
    const auto fields = core::Fields<entry_size>::at(sector, table_offset + i * entry_size);
    if (fields) entries[i] = {fields->get<u8, 4>(), fields->get<u32, 8>(), fields->get<u32, 12>()};
  }
  return entries;
}

bool is_extended(u8 type) {
  return type == 0x05 || type == 0x0f || type == 0x85;
}

// Sector numbers count 512 or 4096 bytes; what lies at the places they name tells which.
u32 find_sector_size(const core::ImageSource& image, const std::array<Entry, 4>& entries) {
  const auto known = [&](u32 sector_size) {
    return std::ranges::count_if(entries, [&](const Entry& entry) {
      if (entry.type == 0 || entry.count == 0) return false;
      const auto kind = identify_at(image, entry.start * sector_size);
      return kind != core::FileKind::unknown && kind != core::FileKind::zeros;
    });
  };
  return known(4096) > known(512) ? 4096 : 512;
}

void add_partition(const core::ImageSource& image, Disk& disk, const Entry& entry, u32 number,
                   u64 start, core::Findings& findings) {
  Partition partition{.number = number,
                      .offset = start * disk.sector_size,
                      .size = entry.count * disk.sector_size,
                      .type = fmt::format("{:#04x}", entry.type),
                      .name = {},
                      .kind = core::FileKind::unknown};
  partition.kind = identify_at(image, partition.offset);
  if (partition.offset >= image.size())
    findings.warning("partition-range", table_offset,
                     "partition {} starts beyond the end of the image", number);
  if (entry.type == 0x42)
    findings.info("partition-dynamic", table_offset,
                  "partition {} belongs to dynamic disks, whose volumes are not searched", number);
  disk.partitions.push_back(std::move(partition));
}

// Logical partitions: each boot record of the chain has one, relative to itself, and the next
// record, relative to the extended partition.
void read_logical(const core::ImageSource& image, Disk& disk, u64 extended, u32& number,
                  core::Findings& findings) {
  std::set<u64> visited;
  u64 at = extended;
  while (visited.size() < most_logical) {
    std::array<std::byte, 512> sector{};
    const u64 offset = at * disk.sector_size;
    if (!visited.insert(at).second || !image.read_at(offset, sector) ||
        core::load<u16>(sector, 0x1fe) != u16{0xaa55}) {
      findings.warning("partition-chain", offset,
                       "the chain of logical partitions is broken or loops");
      return;
    }
    u64 next = 0;
    for (const auto& entry : read_entries(sector)) {
      if (entry.type == 0 || entry.count == 0) continue;
      if (is_extended(entry.type)) {
        next = extended + entry.start;
      } else {
        add_partition(image, disk, entry, number++, at + entry.start, findings);
      }
    }
    if (next == 0) return;
    at = next;
  }
  findings.warning("partition-chain", extended * disk.sector_size,
                   "more than {} logical partitions", most_logical);
}

}  // namespace

bool looks_like_mbr(core::ByteView first_sector) {
  if (core::load<u16>(first_sector, 0x1fe) != u16{0xaa55}) return false;
  bool any = false;
  for (u64 i = 0; i < 4; ++i) {
    const auto status = core::load<u8>(first_sector, table_offset + i * entry_size);
    if ((*status & 0x7f) != 0) return false;
    const auto type = core::load<u8>(first_sector, table_offset + i * entry_size + 4);
    any = any || *type != 0;
  }
  return any;
}

void read_mbr(const core::ImageSource& image, core::ByteView first_sector, Disk& disk,
              core::Findings& findings) {
  const auto entries = read_entries(first_sector);
  disk.sector_size = find_sector_size(image, entries);
  u32 logical = first_logical;
  for (u32 i = 0; i < 4; ++i) {
    const auto& entry = entries[i];
    if (entry.type == 0 || entry.count == 0) continue;
    if (is_extended(entry.type)) {
      read_logical(image, disk, entry.start, logical, findings);
    } else {
      add_partition(image, disk, entry, i + 1, entry.start, findings);
    }
  }
}

}  // namespace coldtrace::ntfs
