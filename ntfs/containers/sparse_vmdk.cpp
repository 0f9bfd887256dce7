#include "ntfs/containers/sparse_vmdk.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include <fmt/format.h>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr u64 sector_size = 512;
constexpr u64 most_tables = u64{1} << 16;

// Source: VMware, "Virtual Disk Format 5.0", "Hosted Sparse Extents": SparseExtentHeader, in
// sectors, and the grain directory and tables, entries of 32 bits.
struct SparseHeader {
  static constexpr u64 capacity_at = 12;
  static constexpr u64 grain_at = 20;
  static constexpr u64 descriptor_at = 28;
  static constexpr u64 entries_at = 44;
  static constexpr u64 directory_at = 56;
  static constexpr u64 at_the_end = ~u64{0};  // the directory of a stream, with a footer

  u64 capacity = 0;
  u64 grain = 0;
  u64 descriptor = 0;
  u64 descriptor_size = 0;
  u64 entries = 0;
  u64 directory = 0;

  u64 table_count() const {
    const u64 of_table = core::saturating_multiply(grain, entries);
    return capacity / of_table + (capacity % of_table != 0 ? 1 : 0);
  }
};

std::optional<SparseHeader> read_sparse_header(const core::ImageSource& file) {
  std::array<std::byte, 64> bytes{};
  if (!file.read_at(0, bytes) || !core::to_chars(bytes).starts_with("KDMV")) return std::nullopt;
  const auto number = [&](u64 at) { return core::load<u64>(bytes, at).value_or(0); };
  return SparseHeader{number(SparseHeader::capacity_at),
                      number(SparseHeader::grain_at),
                      number(SparseHeader::descriptor_at),
                      number(SparseHeader::descriptor_at + sizeof(u64)),
                      core::load<u32>(bytes, SparseHeader::entries_at).value_or(0),
                      number(SparseHeader::directory_at)};
}

std::optional<u32> load_entry(const core::ImageSource& file, u64 offset) {
  std::array<std::byte, sizeof(u32)> bytes{};
  if (!file.read_at(offset, bytes)) return std::nullopt;
  return core::load<u32>(bytes, 0).value_or(0);
}

bool has_descriptor(const core::ImageSource& file, u64 offset) {
  constexpr std::string_view start = "# Disk DescriptorFile";
  std::array<std::byte, start.size()> bytes{};
  return file.read_at(offset, bytes) && core::to_chars(bytes) == start;
}

std::optional<VmdkDefect> find_header_defect(const core::ImageSource& file,
                                             const SparseHeader& header) {
  const u64 sectors = file.size() / sector_size;
  if (!std::has_single_bit(header.grain) || header.grain > sectors)
    return VmdkDefect{SparseHeader::grain_at,
                      fmt::format("has grains of {} sectors", header.grain)};
  if (!std::has_single_bit(header.entries))
    return VmdkDefect{SparseHeader::entries_at,
                      fmt::format("has grain tables of {} entries", header.entries)};
  if (header.capacity == 0)
    return VmdkDefect{SparseHeader::capacity_at, "has a capacity of 0 sectors"};
  if (header.descriptor != 0 && header.descriptor_size != 0) {
    const u64 place = core::saturating_multiply(header.descriptor, sector_size);
    if (!has_descriptor(file, place))
      return VmdkDefect{place, "points there to a descriptor, but there is none"};
  }
  if (header.directory == SparseHeader::at_the_end) return std::nullopt;
  const u64 size = core::saturating_multiply(header.table_count(), sizeof(u32));
  if (header.directory >= sectors || size > file.size() - header.directory * sector_size)
    return VmdkDefect{
        SparseHeader::directory_at,
        fmt::format("has a grain directory of {} bytes at sector {}, but the file has {}", size,
                    header.directory, sectors)};
  return std::nullopt;
}

// The first entry that leads behind the end of the file.
std::optional<VmdkDefect> find_entry_defect(const core::ImageSource& file,
                                            const SparseHeader& header) {
  const u64 sectors = file.size() / sector_size;
  const u64 start = header.directory * sector_size;
  for (u64 i = 0; i < std::min(header.table_count(), most_tables); ++i) {
    const u64 at = start + i * sizeof(u32);
    const auto table = load_entry(file, at);
    if (!table) return std::nullopt;  // what cannot be read is told where it is needed
    if (*table >= sectors)
      return VmdkDefect{
          at, fmt::format("has a grain table at sector {}, but the file has {}", *table, sectors)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<VmdkDefect> find_vmdk_defect(const core::ImageSource& file) {
  const auto header = read_sparse_header(file);
  if (!header) return std::nullopt;
  if (auto defect = find_header_defect(file, *header)) return defect;
  if (header->directory == SparseHeader::at_the_end) return std::nullopt;
  return find_entry_defect(file, *header);
}

bool is_sound_vmdk(const core::ImageSource& file) {
  constexpr u32 zeros = 1;  // a grain of zeros has this entry
  const auto header = read_sparse_header(file);
  if (!header || find_vmdk_defect(file) || header->directory == SparseHeader::at_the_end)
    return false;
  const u64 sectors = file.size() / sector_size;
  for (u64 i = 0; i < std::min(header->table_count(), most_tables); ++i) {
    const auto table = load_entry(file, header->directory * sector_size + i * sizeof(u32));
    if (!table) return false;
    if (*table == 0) continue;
    bool used = false;
    for (u64 each = 0; each < std::min(header->entries, most_tables); ++each) {
      const auto grain = load_entry(file, *table * sector_size + each * sizeof(u32));
      if (!grain || *grain >= sectors) return false;
      used = used || *grain > zeros;
    }
    return used;
  }
  return false;
}

}  // namespace coldtrace::ntfs
