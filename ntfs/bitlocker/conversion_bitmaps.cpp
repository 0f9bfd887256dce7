#include "ntfs/bitlocker/conversion_bitmaps.hpp"

#include <algorithm>
#include <cstring>

#include "coldtrace/core/checksums.hpp"

namespace coldtrace::ntfs {
namespace {

using namespace std::string_view_literals;

constexpr u64 list_head_size = 0x38;
constexpr u64 bitmap_head_size = 60;
constexpr u64 record_head_size = 36;
constexpr u64 most_bitmap_bytes = u64{64} << 20;

class VolumeBytes {
 public:
  VolumeBytes(const core::ImageSource& image, core::ByteRange volume)
      : image_{image}, volume_{volume} {}

  // Empty where they are not there.
  std::vector<std::byte> read(u64 offset, u64 size) const {
    if (offset > volume_.length || size > volume_.length - offset) return {};
    std::vector<std::byte> bytes(size);
    if (!image_.read_at(volume_.offset + offset, bytes)) return {};
    return bytes;
  }

 private:
  const core::ImageSource& image_;
  core::ByteRange volume_;
};

bool begins_with(core::ByteView bytes, std::string_view signature) {
  return bytes.size() >= signature.size() &&
         std::memcmp(bytes.data(), signature.data(), signature.size()) == 0;
}

// Whether the checksum of `bytes`, which is part of them at `place`, is theirs with zeros there.
bool has_checksum(std::vector<std::byte> bytes, u64 place) {
  const auto stated = core::load<u32>(bytes, place);
  if (!stated) return false;
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(place), sizeof(u32), std::byte{0});
  return core::crc32(bytes) == *stated;
}

// Of two records the one with the higher number counts.
std::optional<BitLockerBitmap> read_bitmap(const VolumeBytes& bytes, u64 offset, u64& budget) {
  const auto start = bytes.read(offset, bitmap_head_size);
  const auto head = core::Fields<bitmap_head_size>::at(start, 0);
  if (!head || !begins_with(start, "FVE-EOWBM\0"sv)) return std::nullopt;
  BitLockerBitmap bitmap{{head->get<u64, 20>(), head->get<u64, 28>()}, {}, 0};
  u64 latest = 0;
  for (const u64 place : {head->get<u32, 44>(), head->get<u32, 48>()}) {
    const auto of_record = bytes.read(offset + place, record_head_size);
    const auto record = core::Fields<record_head_size>::at(of_record, 0);
    if (!record || !begins_with(of_record, "FVE-EOWBR\0"sv)) continue;
    const u64 size = record->get<u32, 12>();
    if (size < record_head_size || size > budget) continue;
    const auto whole = bytes.read(offset + place, size);
    if (whole.empty() || !has_checksum(whole, 32)) continue;
    const u64 number = record->get<u64, 20>();
    if (!bitmap.bits.empty() && number < latest) continue;
    latest = number;
    bitmap.bits.assign(whole.begin() + record_head_size, whole.end());
    bitmap.bit_count = std::min<u64>(record->get<u32, 16>(), bitmap.bits.size() * 8);
  }
  if (bitmap.bits.empty()) return std::nullopt;
  budget -= bitmap.bits.size();
  return bitmap;
}

}  // namespace

void read_conversion_bitmaps(const core::ImageSource& image, std::span<const u64> lists,
                             BitLockerMetadata& metadata, core::Findings& findings) {
  const VolumeBytes bytes{image, metadata.volume};
  std::vector<std::byte> list;
  for (const auto offset : lists) {
    const auto head = bytes.read(offset, list_head_size);
    if (!begins_with(head, "FVE-EOW\0"sv)) continue;
    const u64 size = core::load<u16>(head, 10).value_or(0);
    if (size < list_head_size) continue;
    list = bytes.read(offset, size);
    if (has_checksum(list, 0x24)) break;
    list.clear();
  }
  const u64 chunk_size = core::load<u32>(list, 0x14).value_or(0);
  const bool usable = chunk_size != 0 && chunk_size % metadata.sector_size == 0;
  u64 missing = usable ? 0 : 1;
  u64 budget = most_bitmap_bytes;
  const auto round = [&](u64 size) {
    return (size + metadata.sector_size - 1) / metadata.sector_size * metadata.sector_size;
  };
  if (usable) {
    metadata.chunk_size = chunk_size;
    for (const auto offset : lists) metadata.zeros.push_back({offset, round(list.size())});
    for (u64 at = list_head_size; at + 8 <= list.size(); at += 8) {
      const u64 offset = core::load<u64>(list, at).value_or(0);
      const auto head = bytes.read(offset, bitmap_head_size);
      metadata.zeros.push_back({offset, core::load<u32>(head, 12).value_or(0)});
      metadata.zeros.push_back(
          {core::load<u64>(head, 36).value_or(0), core::load<u32>(list, 0x18).value_or(0)});
      if (auto bitmap = read_bitmap(bytes, offset, budget))
        metadata.bitmaps.push_back(std::move(*bitmap));
      else
        ++missing;
    }
  }
  std::ranges::sort(metadata.bitmaps, {}, [](const auto& bitmap) { return bitmap.region.offset; });
  if (missing != 0)
    findings.warning("bitlocker-conversion", metadata.volume.offset,
                     "how much of the volume is encrypted so far cannot be read; it is read as if "
                     "all of it were");
  else
    findings.info("bitlocker-conversion", metadata.volume.offset,
                  "the volume is being encrypted; what is not encrypted yet is read as it is");
}

}  // namespace coldtrace::ntfs
