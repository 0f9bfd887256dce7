#include "coldtrace/ntfs/bitlocker/bitlocker_image.hpp"

#include <algorithm>
#include <cstring>

#include "coldtrace/core/checked.hpp"
#include "ntfs/bitlocker/sector_cipher.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr u64 vista_plain_end = 0x2000;
constexpr u64 largest_sector = 4096;

// A stretch of the volume of one kind.
struct Stretch {
  enum class Kind : u8 { zeros, plain, encrypted, vista_sector };
  Kind kind;
  u64 source;  // in the volume
  u64 end;
};

class BitLockerImage final : public core::ImageSource {
 public:
  BitLockerImage(std::unique_ptr<core::ImageSource> image, const BitLockerMetadata& metadata,
                 std::optional<SectorCipher> cipher)
      : image_{std::move(image)}, metadata_{metadata}, cipher_{std::move(cipher)} {
    auto& zeros = metadata_.zeros;
    std::ranges::sort(zeros, {}, &core::ByteRange::offset);
    std::vector<core::ByteRange> joined;
    for (auto range : zeros) {
      if (range.offset >= metadata_.volume.length) break;
      range.length = std::min(range.length, metadata_.volume.length - range.offset);
      const u64 end = range.offset + range.length;
      if (!joined.empty() && range.offset <= joined.back().offset + joined.back().length)
        joined.back().length = std::max(joined.back().length, end - joined.back().offset);
      else if (range.length != 0)
        joined.push_back(range);
    }
    zeros = std::move(joined);
  }

  u64 size() const override { return image_->size(); }
  u64 available() const override { return image_->available(); }
  std::span<const core::ByteRange> unreliable() const override { return image_->unreliable(); }

  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override {
    if (const auto error = check_range(offset, destination.size())) return core::fail(*error);
    const auto& volume = metadata_.volume;
    while (!destination.empty()) {
      const bool before = offset < volume.offset;
      const u64 at = offset - std::min(offset, volume.offset);
      const bool inside = !before && at < volume.length;
      const u64 left = before ? volume.offset - offset : inside ? volume.length - at : ~u64{0};
      const auto part = destination.first(std::min<u64>(destination.size(), left));
      COLDTRACE_TRY(inside ? read_volume(at, part) : image_->read_at(offset, part));
      offset += part.size();
      destination = destination.subspan(part.size());
    }
    return core::Done{};
  }

 private:
  // Whether byte `at` is encrypted, and up to where that holds.
  Stretch state_at(u64 at) const {
    if (metadata_.decrypted()) return {Stretch::Kind::plain, at, metadata_.volume.length};
    const auto& bitmaps = metadata_.bitmaps;
    auto next = std::ranges::upper_bound(
        bitmaps, at, {}, [](const BitLockerBitmap& bitmap) { return bitmap.region.offset; });
    u64 end = next == bitmaps.end() ? metadata_.volume.length : next->region.offset;
    if (next != bitmaps.begin()) {
      const auto& bitmap = *std::prev(next);
      const u64 inside = at - bitmap.region.offset;
      const u64 bit = inside / metadata_.chunk_size;
      if (inside < bitmap.region.length && bit < bitmap.bit_count) {
        const bool set = (std::to_integer<unsigned>(bitmap.bits[bit / 8]) >> bit % 8 & 1U) != 0;
        const u64 chunk_end = std::min((bit + 1) * metadata_.chunk_size, bitmap.region.length);
        end = std::min(end, core::saturating_add(bitmap.region.offset, chunk_end));
        return {set ? Stretch::Kind::encrypted : Stretch::Kind::plain, at, end};
      }
    }
    const u64 limit = metadata_.encrypted_end;
    if (limit == 0) return {Stretch::Kind::encrypted, at, end};
    if (at >= limit) return {Stretch::Kind::plain, at, end};
    return {Stretch::Kind::encrypted, at, std::min(end, limit)};
  }

  Stretch stretch_at(u64 at) const {
    const auto& header = metadata_.header;
    if (at < header.length) {
      auto kept = state_at(header.offset + at);
      kept.end = std::min(header.length, at + (kept.end - kept.source));
      return kept;
    }
    if (metadata_.version == 1 && at < vista_plain_end)
      return at < metadata_.sector_size
                 ? Stretch{Stretch::Kind::vista_sector, at, metadata_.sector_size}
                 : Stretch{Stretch::Kind::plain, at, vista_plain_end};
    const auto next = std::ranges::upper_bound(metadata_.zeros, at, {}, &core::ByteRange::offset);
    if (next != metadata_.zeros.begin()) {
      const auto& zeros = *std::prev(next);
      if (at < zeros.offset + zeros.length)
        return {Stretch::Kind::zeros, at, zeros.offset + zeros.length};
    }
    auto state = state_at(at);
    if (next != metadata_.zeros.end()) state.end = std::min(state.end, next->offset);
    return state;
  }

  core::Result<core::Done> read_volume(u64 at, std::span<std::byte> destination) const {
    while (!destination.empty()) {
      auto stretch = stretch_at(at);
      // As far as it goes on where that is kept, too.
      for (u64 next = stretch.end; next - at < destination.size();) {
        const auto more = stretch_at(next);
        if (more.kind != stretch.kind || more.source - stretch.source != next - at) break;
        next = stretch.end = more.end;
      }
      const auto part = destination.first(std::min<u64>(destination.size(), stretch.end - at));
      COLDTRACE_TRY(read_stretch(stretch, part));
      at += part.size();
      destination = destination.subspan(part.size());
    }
    return core::Done{};
  }

  core::Result<core::Done> read_stretch(const Stretch& stretch,
                                        std::span<std::byte> destination) const {
    switch (stretch.kind) {
      case Stretch::Kind::zeros:
        std::ranges::fill(destination, std::byte{0});
        return core::Done{};
      case Stretch::Kind::plain:
        return read_stored(stretch.source, destination);
      case Stretch::Kind::vista_sector:
        return read_vista_sector(stretch.source, destination);
      case Stretch::Kind::encrypted:
        return read_encrypted(stretch.source, destination);
    }
    return core::Done{};
  }

  core::Result<core::Done> read_stored(u64 at, std::span<std::byte> destination) const {
    return image_->read_at(metadata_.volume.offset + at, destination);
  }

  // Windows Vista writes its own name over that of the file system, and the place of its metadata
  // over that of $MFTMirr.
  core::Result<core::Done> read_vista_sector(u64 at, std::span<std::byte> destination) const {
    std::array<std::byte, largest_sector> sector;
    const auto whole = std::span{sector}.first(metadata_.sector_size);
    COLDTRACE_TRY(read_stored(0, whole));
    std::memcpy(sector.data() + 3, "NTFS    ", 8);
    std::memcpy(sector.data() + 0x38, &metadata_.mft_mirror, sizeof(metadata_.mft_mirror));
    std::memcpy(destination.data(), sector.data() + at, destination.size());
    return core::Done{};
  }

  // Sectors in part by way of a whole one.
  core::Result<core::Done> read_encrypted(u64 at, std::span<std::byte> destination) const {
    const u64 size = metadata_.sector_size;
    while (!destination.empty()) {
      const u64 skipped = at % size;
      if (skipped == 0 && destination.size() >= size) {
        const auto whole = destination.first(destination.size() / size * size);
        COLDTRACE_TRY(read_stored(at, whole));
        cipher_->decrypt(at, whole);
        at += whole.size();
        destination = destination.subspan(whole.size());
        continue;
      }
      std::array<std::byte, largest_sector> buffer;
      const auto sector = std::span{buffer}.first(size);
      COLDTRACE_TRY(read_stored(at - skipped, sector));
      cipher_->decrypt(at - skipped, sector);
      const auto part = destination.first(std::min<u64>(destination.size(), size - skipped));
      std::memcpy(part.data(), buffer.data() + skipped, part.size());
      at += part.size();
      destination = destination.subspan(part.size());
    }
    return core::Done{};
  }

  std::unique_ptr<core::ImageSource> image_;
  BitLockerMetadata metadata_;
  std::optional<SectorCipher> cipher_;  // nothing: the volume is decrypted
};

}  // namespace

std::unique_ptr<core::ImageSource> open_bitlocker_image(std::unique_ptr<core::ImageSource>& image,
                                                        const BitLockerMetadata& metadata,
                                                        const BitLockerVolumeKey* key) {
  std::optional<SectorCipher> cipher;
  if (!metadata.decrypted()) {
    if (key == nullptr) return nullptr;
    cipher = SectorCipher::create(key->method, key->bytes, metadata.sector_size);
    if (!cipher) return nullptr;
  }
  return std::make_unique<BitLockerImage>(std::move(image), metadata, std::move(cipher));
}

}  // namespace coldtrace::ntfs
