// A disk with a table of partitions, of which any bytes are changed: its partitions are told once
// each, its volumes open or say why not, and every byte that is asked for is told what it is.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "coldtrace/core/checksums.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/ntfs/locate/disk_area.hpp"
#include "coldtrace/ntfs/locate/place_finder.hpp"
#include "coldtrace/ntfs/opening/image_volumes.hpp"
#include "coldtrace/ntfs/opening/unopened_volume.hpp"
#include "fixtures/builders/ntfs_image.hpp"

namespace {

using namespace coldtrace;

void require(bool condition) {
  if (!condition) __builtin_trap();
}

constexpr u64 sector = 512;
constexpr u64 first_volume = 64, second_volume = 320;  // sectors
constexpr u64 sectors = 640;

using Bytes = std::vector<std::byte>;

void put(Bytes& disk, u64 at, u64 value, std::size_t size) {
  std::memcpy(disk.data() + at, &value, size);
}

Bytes make_volumes() {
  fixtures::NtfsImage image{{.cluster_size = 512, .clusters = 160, .records = 40}};
  image.add_file(u"file.txt", "content", image.add_directory(u"directory"));
  const auto volume = image.build();
  Bytes disk(sectors * sector);
  for (const u64 at : {first_volume, second_volume})
    std::copy(volume.begin(), volume.end(),
              disk.begin() + static_cast<std::ptrdiff_t>(at * sector));
  return disk;
}

void put_entry(Bytes& disk, u64 at, u8 type, u64 start, u64 size) {
  put(disk, at + 4, type, 1);
  put(disk, at + 8, start, 4);
  put(disk, at + 12, size, 4);
}

void put_signature(Bytes& disk, u64 at) {
  put(disk, at + 510, 0xaa55, 2);
}

// The second volume is a logical partition.
Bytes make_mbr() {
  auto disk = make_volumes();
  put_signature(disk, 0);
  put_entry(disk, 446, 0x07, first_volume, 161);
  put_entry(disk, 462, 0x0f, second_volume - 1, sectors - second_volume);
  put_signature(disk, (second_volume - 1) * sector);
  put_entry(disk, (second_volume - 1) * sector + 446, 0x07, 1, 161);
  return disk;
}

void put_sums(Bytes& disk, u64 at, u64 entries) {
  const u64 place = at * sector;
  put(disk, place + 88, core::crc32(core::ByteView{disk}.subspan(entries * sector, 512)), 4);
  put(disk, place + 16, 0, 4);
  put(disk, place + 16, core::crc32(core::ByteView{disk}.subspan(place, 92)), 4);
}

void put_header(Bytes& disk, u64 at, u64 other, u64 entries) {
  const u64 place = at * sector;
  std::memcpy(disk.data() + place, "EFI PART", 8);
  put(disk, place + 8, 0x10000, 4);
  put(disk, place + 12, 92, 4);
  put(disk, place + 24, at, 8);
  put(disk, place + 32, other, 8);
  put(disk, place + 40, 34, 8);
  put(disk, place + 48, sectors - 34, 8);
  put(disk, place + 72, entries, 8);
  put(disk, place + 80, 4, 4);
  put(disk, place + 84, 128, 4);
  put_sums(disk, at, entries);
}

Bytes make_gpt() {
  auto disk = make_volumes();
  put_signature(disk, 0);
  put_entry(disk, 446, 0xee, 1, sectors - 1);
  constexpr auto basic_data = *core::parse_guid("ebd0a0a2-b9e5-4433-87c0-68b6b72699c7");
  for (const u64 entries : {u64{2}, sectors - 2})
    for (u64 i = 0; i < 2; ++i) {
      const u64 at = entries * sector + i * 128;
      std::memcpy(disk.data() + at, basic_data.bytes.data(), basic_data.bytes.size());
      put(disk, at + 16, i + 1, 8);
      put(disk, at + 32, i == 0 ? first_volume : second_volume, 8);
      put(disk, at + 40, (i == 0 ? first_volume : second_volume) + 160, 8);
      put(disk, at + 56, 'a' + i, 2);
    }
  put_header(disk, 1, sectors - 1, 2);
  put_header(disk, sectors - 1, 1, sectors - 2);
  return disk;
}

// Changes: a number of bytes, the sector and the byte of it, and the bytes.
void patch(Bytes& disk, core::ByteView changes) {
  for (u64 at = 0; at + 4 <= changes.size();) {
    const auto byte = [&](u64 i) { return std::to_integer<u64>(changes[at + i]); };
    const u64 place = (byte(1) | byte(2) << 8) % sectors * sector + byte(3) * 2;
    const u64 count = std::min({byte(0) % 32 + 1, changes.size() - at - 4, disk.size() - place});
    std::copy_n(changes.begin() + static_cast<std::ptrdiff_t>(at + 4), count,
                disk.begin() + static_cast<std::ptrdiff_t>(place));
    at += 4 + count;
  }
}

void look(const ntfs::ImageVolumes& image, const ntfs::Partition& partition) {
  core::Findings findings;
  const auto volume = ntfs::open_volume(image, core::Borrowed<core::ImageSource>{*image.stored},
                                        partition, {}, findings);
  if (!volume) {
    (void)ntfs::explain_unopened(image, partition, volume.error());
    return;
  }
  std::vector<ntfs::Gap> gaps;
  const auto records = ntfs::RecordTable::scan(*image.stored, volume->mft(), 1, findings, gaps);
  const std::array area{
      ntfs::VolumeArea{volume->mft().clusters(), partition.offset, partition.size}};
  std::vector<u64> offsets;
  for (u64 at = 0; at < 160; ++at) {
    const u64 offset = partition.offset + at * 509;
    const auto in = ntfs::find_area(offset, image.stored->size(), area, image.disk.partitions);
    if (in.kind == ntfs::DiskArea::Kind::clusters) offsets.push_back(offset);
  }
  const auto places = ntfs::find_places(*volume, records, offsets, findings);
  require(places.size() == offsets.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    require(places[i].offset == offsets[i]);
    require(places[i].owners.size() <= ntfs::most_place_owners);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Bytes bases[] = {make_mbr(), make_gpt(), make_volumes()};
  if (size == 0) return 0;
  static Bytes disk;  // all are of one size
  disk = bases[(data[0] & 0x7fU) % std::size(bases)];
  patch(disk, std::as_bytes(std::span{data, size}).subspan(1));
  // What is changed is not told by its sums alone.
  if ((data[0] & 0x80U) != 0) {
    put_sums(disk, 1, 2);
    put_sums(disk, sectors - 1, sectors - 2);
  }
  core::Findings findings;
  auto file = ntfs::open_image(std::make_unique<core::MemoryImage>(disk), findings, {});
  if (!file) return 0;
  const auto image = ntfs::read_volumes(std::move(*file), {}, {}, findings);
  std::set<u32> numbers;
  for (const auto& partition : image.disk.partitions)
    require(numbers.insert(partition.number).second);
  const auto chosen = ntfs::choose_volumes(image, {});
  if (!chosen) return 0;
  for (std::size_t i = 0; i < chosen->volumes.size() && i < 2; ++i) look(image, chosen->volumes[i]);
  return 0;
}
