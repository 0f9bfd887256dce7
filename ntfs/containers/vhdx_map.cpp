#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/crc32c.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/guid.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/structures/stored_text.hpp"
#include "ntfs/containers/disk_map.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;
using Where = MappedBytes::Where;

// Source: [MS-VHDX] 2.2.3, "Region Table", 2.5, "BAT", 2.6, "Metadata Region"; the order of the
// bits in a bitmap, lowest first: dissect.hypervisor, disk/vhdx.py.
constexpr core::Name vhdx_image = "VHDX image";
constexpr std::array<u64, 2> header_places = {u64{64} << 10U, u64{128} << 10U};

struct VhdxHeader {
  u64 table_offset = 0;
  u64 table_count = 0;
  u64 block_size = 0;
  u64 sector_size = 0;
  bool has_parent = false;
  u64 metadata_offset = 0;
  u64 size = 0;  // of the disk
};

template <std::size_t Size>
core::Result<std::array<std::byte, Size>> read_array(const core::ImageSource& file, u64 offset) {
  std::array<std::byte, Size> bytes{};
  COLDTRACE_TRY(file.read_at(offset, bytes));
  return bytes;
}

// Of a table of the format: entries of 32 bytes that begin with a GUID.
core::Result<std::optional<u64>> find_vhdx_entry(const core::ImageSource& file, u64 first,
                                                 u64 count, std::string_view guid) {
  constexpr u64 entry_size = 32;
  constexpr u64 most_entries = 2047;
  const auto wanted = core::parse_guid(guid);
  for (u64 at = first; at < first + std::min(count, most_entries) * entry_size; at += entry_size) {
    const auto entry = COLDTRACE_TRY(read_array<16>(file, at));
    if (core::to_guid(entry) == wanted) return std::optional{at};
  }
  return std::optional<u64>{};
}

// Where a region or an item of the metadata begins, and of how many bytes it is.
core::Result<core::ByteRange> find_vhdx_region(const core::ImageSource& file,
                                               std::string_view guid) {
  constexpr u64 first_table = u64{192} << 10U;
  constexpr u64 second_table = u64{256} << 10U;
  for (const u64 table : {first_table, second_table}) {
    const auto head = COLDTRACE_TRY(read_array<16>(file, table));
    if (!core::to_chars(head).starts_with("regi")) continue;
    const auto found = COLDTRACE_TRY(
        find_vhdx_entry(file, table + head.size(), core::load<u32>(head, 8).value_or(0), guid));
    if (!found) continue;
    const auto place = COLDTRACE_TRY(read_array<12>(file, *found + 16));
    return core::ByteRange{core::load<u64>(place, 0).value_or(0),
                           core::load<u32>(place, 8).value_or(0)};
  }
  return core::fail({Fault::missing, first_table, vhdx_image, "region", 1, 0});
}

// Where an item of the metadata is.
core::Result<core::ByteRange> find_vhdx_item(const core::ImageSource& file, u64 metadata,
                                             std::string_view guid) {
  const auto head = COLDTRACE_TRY(read_array<32>(file, metadata));
  std::optional<u64> found;
  if (core::to_chars(head).starts_with("metadata"))
    found = COLDTRACE_TRY(
        find_vhdx_entry(file, metadata + head.size(), core::load<u16>(head, 10).value_or(0), guid));
  if (!found) return core::fail({Fault::missing, metadata, vhdx_image, "metadata item", 1, 0});
  const auto place = COLDTRACE_TRY(read_array<8>(file, *found + 16));
  return core::ByteRange{core::saturating_add(metadata, core::load<u32>(place, 0).value_or(0)),
                         core::load<u32>(place, 4).value_or(0)};
}

template <class Number>
core::Result<Number> read_vhdx_number(const core::ImageSource& file, u64 metadata,
                                      std::string_view guid) {
  const auto place = COLDTRACE_TRY(find_vhdx_item(file, metadata, guid));
  const auto bytes = COLDTRACE_TRY(read_array<sizeof(Number)>(file, place.offset));
  return core::load<Number>(bytes, 0).value_or(0);
}

core::Result<VhdxHeader> read_vhdx_header(const core::ImageSource& file) {
  constexpr u64 smallest_block = u64{1} << 20U;
  constexpr u64 largest_block = u64{256} << 20U;
  constexpr u32 has_parent_bit = 2;
  const auto table = COLDTRACE_TRY(find_vhdx_region(file, "2dc27766-f623-4200-9d64-115e9bfd4a08"));
  const auto metadata =
      COLDTRACE_TRY(find_vhdx_region(file, "8b7ca206-4790-4b9a-b8fe-575f050f886e"));
  const auto parameters = COLDTRACE_TRY(
      read_vhdx_number<u64>(file, metadata.offset, "caa16737-fa36-4d43-b3b6-33f0aa44e76b"));
  VhdxHeader header;
  header.table_offset = table.offset;
  header.table_count = table.length / sizeof(u64);
  header.block_size = parameters & ~u32{0};
  header.has_parent = (parameters >> 32U & has_parent_bit) != 0;
  header.metadata_offset = metadata.offset;
  header.sector_size = COLDTRACE_TRY(
      read_vhdx_number<u32>(file, metadata.offset, "8141bf1d-a96f-4709-ba47-f233a8faab5f"));
  header.size = COLDTRACE_TRY(
      read_vhdx_number<u64>(file, metadata.offset, "2fa54224-cd1b-4876-b211-5dbed83bf4b8"));
  constexpr u64 largest_disk = u64{64} << 40U;
  if (header.size > largest_disk)
    return core::fail({Fault::bad_value, metadata.offset, vhdx_image, "virtual disk size",
                       largest_disk, header.size});
  if (!std::has_single_bit(header.block_size) || header.block_size < smallest_block ||
      header.block_size > largest_block)
    return core::fail({Fault::bad_value, metadata.offset, vhdx_image, "block size", smallest_block,
                       header.block_size});
  if (header.sector_size != 512 && header.sector_size != 4096)
    return core::fail(
        {Fault::bad_value, metadata.offset, vhdx_image, "sector size", 512, header.sector_size});
  return header;
}

class VhdxMap final : public DiskMap {
 public:
  VhdxMap(std::unique_ptr<core::FileImage> file, const VhdxHeader& header)
      : file_{std::move(file)}, header_{header} {}

  core::Result<MappedBytes> find(u64 offset) const override {
    enum State : u64 { not_present, undefined, zero, unmapped, full = 6, partial = 7 };
    const u64 block = offset / header_.block_size;
    const u64 inside = offset % header_.block_size;
    MappedBytes found{Where::parent, header_.block_size - inside, nullptr, 0};
    const u64 entry = COLDTRACE_TRY(read_entry(block + block / chunk_blocks()));
    switch (entry & state_bits) {
      case not_present:
        return found;
      case undefined:
      case zero:
      case unmapped:
        found.where = Where::zeros;
        return found;
      case partial: {
        const auto run = COLDTRACE_TRY(find_run(block, inside / header_.sector_size));
        found.length = run.sectors * header_.sector_size - inside % header_.sector_size;
        if (!run.is_there) return found;
        break;
      }
      case full:
        break;
      default:
        return core::fail({Fault::bad_value, header_.table_offset, vhdx_image, "block state", full,
                           entry & state_bits});
    }
    found.where = Where::file;
    found.file = file_.get();
    found.offset = core::saturating_add(entry & place_bits, inside);
    return found;
  }

 private:
  static constexpr u64 state_bits = 7;
  static constexpr u64 place_bits = ~((u64{1} << 20U) - 1);

  struct Run {
    bool is_there;
    u64 sectors;
  };

  // A bitmap of 1 MiB is of so many sectors, and stands in the table behind their blocks.
  u64 chunk_blocks() const { return (u64{1} << 23U) * header_.sector_size / header_.block_size; }

  core::Result<u64> read_entry(u64 index) const {
    if (index >= header_.table_count)
      return core::fail({Fault::out_of_bounds, header_.table_offset, vhdx_image, "block",
                         header_.table_count, index});
    const auto bytes = COLDTRACE_TRY(
        read_array<8>(*file_, core::saturating_add(header_.table_offset, index * sizeof(u64))));
    return core::load<u64>(bytes, 0).value_or(0);
  }

  // The sector and those that follow in the block and are there, or are not, as it is.
  core::Result<Run> find_run(u64 block, u64 sector) const {
    constexpr u64 present = 6;
    constexpr u64 most_bytes = 64;
    const u64 blocks = chunk_blocks();
    const u64 entry = COLDTRACE_TRY(read_entry(block / blocks * (blocks + 1) + blocks));
    if ((entry & state_bits) != present)
      return core::fail({Fault::missing, header_.table_offset, vhdx_image, "sector bitmap", present,
                         entry & state_bits});
    const u64 in_block = header_.block_size / header_.sector_size;  // a multiple of 8
    const u64 from = sector / 8;
    std::array<std::byte, most_bytes> bytes{};
    const auto count = std::min<u64>(bytes.size(), in_block / 8 - from);
    const u64 place =
        core::saturating_add(entry & place_bits, block % blocks * in_block / 8 + from);
    COLDTRACE_TRY(file_->read_at(place, std::span{bytes}.first(count)));
    const auto bit = [&](u64 number) {
      return (bytes[number / 8 - from] & (std::byte{1} << (number % 8))) != std::byte{0};
    };
    u64 next = sector + 1;
    while (next < (from + count) * 8 && bit(next) == bit(sector)) ++next;
    return Run{bit(sector), next - sector};
  }

  std::unique_ptr<core::FileImage> file_;
  VhdxHeader header_;
};

struct VhdxParent {
  std::string name;
  std::string identity;  // of what the parent's data was then: a GUID
};

// Source: [MS-VHDX] 2.6.2.6, "Parent Locator": texts of UTF-16 by name.
core::Result<VhdxParent> read_vhdx_parent(const core::ImageSource& file, u64 metadata) {
  constexpr u64 longest = u64{1} << 20U;
  constexpr std::size_t head_size = 20;
  constexpr std::size_t entry_size = 12;
  const auto place =
      COLDTRACE_TRY(find_vhdx_item(file, metadata, "a8d35f2d-b30b-454d-abf7-d3d84834ab0c"));
  if (place.length > longest)
    return core::fail(
        {Fault::limit, place.offset, vhdx_image, "parent locator", longest, place.length});
  std::vector<std::byte> bytes(place.length);
  COLDTRACE_TRY(file.read_at(place.offset, bytes));
  const auto text_at = [&](u64 offset, u64 length) {
    const auto units = core::slice(bytes, offset, length);
    return units ? to_utf8(to_stored_text(*units)) : std::string{};
  };
  VhdxParent parent;
  std::size_t best = 0;
  for (u64 i = 0; i < core::load<u16>(bytes, 18).value_or(0); ++i) {
    const u64 at = head_size + i * entry_size;
    const auto key =
        text_at(core::load<u32>(bytes, at).value_or(0), core::load<u16>(bytes, at + 8).value_or(0));
    auto value = text_at(core::load<u32>(bytes, at + 4).value_or(0),
                         core::load<u16>(bytes, at + 10).value_or(0));
    if (key == "parent_linkage") {
      parent.identity = std::move(value);
      continue;
    }
    constexpr std::array<std::string_view, 3> names = {"absolute_win32_path", "volume_path",
                                                       "relative_path"};
    for (std::size_t rank = 0; rank < names.size(); ++rank)
      if (key == names[rank] && rank + 1 > best) {
        best = rank + 1;
        parent.name = std::move(value);
        break;
      }
  }
  return parent;
}

}  // namespace

// Source: [MS-VHDX] 2.2.2, "Headers": CRC-32C of 4 KiB in which the checksum itself is 0.
bool is_sound_vhdx(const core::ImageSource& file) {
  constexpr std::size_t checksum_offset = 4;
  return std::ranges::any_of(header_places, [&](u64 at) {
    auto head = read_array<4096>(file, at);
    if (!head || !core::to_chars(*head).starts_with("head")) return false;
    const auto stated = core::load<u32>(*head, checksum_offset);
    std::ranges::fill(std::span{*head}.subspan(checksum_offset, sizeof(u32)), std::byte{0});
    return core::crc32c(*head) == stated;
  });
}

bool is_vhdx_of_identity(const core::ImageSource& file, std::string_view identity) {
  if (identity.starts_with('{') && identity.ends_with('}'))
    identity = identity.substr(1, identity.size() - 2);
  const auto wanted = core::parse_guid(identity);
  std::optional<u64> newest;
  bool is_same = false;
  for (const u64 at : header_places) {
    const auto head = read_array<48>(file, at);
    if (!head || !core::to_chars(*head).starts_with("head")) continue;
    const u64 number = core::load<u64>(*head, 8).value_or(0);
    if (newest && *newest >= number) continue;
    newest = number;
    is_same = core::to_guid(std::span{*head}.subspan<32, 16>()) == wanted;
  }
  return is_same;
}

// What has no parent is the library's, and so is what has no tables, which it does not open.
OpenedMap open_vhdx_map(const std::string& path) {
  auto file = core::FileImage::open(path);
  if (!file) return {};
  const auto header = read_vhdx_header(**file);
  if (!header || !header->has_parent) return {};
  auto parent = read_vhdx_parent(**file, header->metadata_offset);
  if (!parent) return OpenedMap::refused("its parent's name: " + to_string(parent.error()));
  OpenedMap opened;
  opened.map = std::make_unique<VhdxMap>(std::move(*file), *header);
  opened.needs_parent = true;
  opened.size = header->size;
  opened.parent = std::move(parent->name);
  opened.parent_identity = std::move(parent->identity);
  return opened;
}

}  // namespace coldtrace::ntfs
