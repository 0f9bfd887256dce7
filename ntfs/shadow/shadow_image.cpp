#include "ntfs/shadow/shadow_image.hpp"

#include <algorithm>

#include "coldtrace/core/checked.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;

constexpr u64 overlay_sector = 512;

// Where a block is in a copy. What was moved there is in use: never zeros.
u64 origin_in(const ShadowMap& map, u64 offset) {
  const auto found =
      std::ranges::lower_bound(map.blocks, offset / shadow_block_size, {}, &ShadowBlock::block);
  return found != map.blocks.end() && found->block == offset / shadow_block_size ? found->origin
                                                                                 : offset;
}

}  // namespace

ShadowMap map_older(const ShadowMap& newer, const StoreChanges& changes) {
  std::vector<ShadowBlock> own = changes.stored;
  for (const auto& moved : changes.forwarded)
    own.push_back({moved.block, origin_in(newer, moved.origin)});
  std::ranges::sort(own, {}, &ShadowBlock::block);
  ShadowMap map;
  map.blocks.reserve(newer.blocks.size() + own.size());
  auto kept = own.begin();
  for (const auto& block : newer.blocks) {
    for (; kept != own.end() && kept->block < block.block; ++kept) map.blocks.push_back(*kept);
    if (kept == own.end() || kept->block != block.block) map.blocks.push_back(block);
  }
  map.blocks.insert(map.blocks.end(), kept, own.end());
  map.zeros = newer.zeros;
  map.zeros.resize(std::max(map.zeros.size(), changes.zeros.size()));
  for (std::size_t i = 0; i < changes.zeros.size(); ++i)
    map.zeros[i] = static_cast<u8>(map.zeros[i] | changes.zeros[i]);
  return map;
}

ShadowImage::ShadowImage(const core::ImageSource& image, ShadowPlace place, u64 copy_size,
                         ShadowMap map, std::vector<ShadowOverlay> overlays)
    : image_{image},
      place_{place},
      copy_size_{copy_size},
      map_{std::move(map)},
      overlays_{std::move(overlays)} {}

u64 ShadowImage::size() const {
  return std::max(image_.size(), core::saturating_add(place_.offset, copy_size_));
}

bool ShadowImage::is_zero(u64 block) const {
  return block / 8 < map_.zeros.size() && (map_.zeros[block / 8] >> block % 8 & 1) != 0;
}

core::Result<core::Done> ShadowImage::read_at(u64 offset, std::span<std::byte> destination) const {
  if (const auto error = check_range(offset, destination.size())) return core::fail(*error);
  while (!destination.empty()) {
    const bool before = offset < place_.offset;
    const u64 at = offset - std::min(offset, place_.offset);
    const bool inside = !before && at < copy_size_;
    const u64 left = before ? place_.offset - offset : inside ? copy_size_ - at : ~u64{0};
    const auto part = destination.first(std::min<u64>(destination.size(), left));
    COLDTRACE_TRY(inside ? read_volume(at, part) : image_.read_at(offset, part));
    offset += part.size();
    destination = destination.subspan(part.size());
  }
  return core::Done{};
}

// Reads bytes that are inside of the volume as it was.
core::Result<core::Done> ShadowImage::read_volume(u64 at, std::span<std::byte> destination) const {
  const u64 begin = at;
  const auto whole = destination;
  auto next =
      std::ranges::lower_bound(map_.blocks, at / shadow_block_size, {}, &ShadowBlock::block);
  while (!destination.empty()) {
    const bool kept = next != map_.blocks.end() && next->block == at / shadow_block_size;
    u64 end = next == map_.blocks.end() ? ~u64{0} : next->block * shadow_block_size;
    if (kept) end += shadow_block_size;
    const auto part = destination.first(std::min<u64>(destination.size(), end - at));
    COLDTRACE_TRY(kept ? read_kept(at, next->origin + at % shadow_block_size, part)
                       : read_in_place(at, part));
    if (kept) ++next;
    at += part.size();
    destination = destination.subspan(part.size());
  }
  return lay_over(begin, whole);
}

// Blocks that a store or a move put at another byte of the volume.
core::Result<core::Done> ShadowImage::read_kept(u64 at, u64 origin,
                                                std::span<std::byte> destination) const {
  if (origin > place_.size || destination.size() > place_.size - origin)
    return core::fail(
        {Fault::out_of_bounds, place_.offset + at, "shadow copy", "block", place_.size, origin});
  return image_.read_at(place_.offset + origin, destination);
}

core::Result<core::Done> ShadowImage::read_in_place(u64 at,
                                                    std::span<std::byte> destination) const {
  if (map_.zeros.empty()) return read_kept(at, at, destination);
  while (!destination.empty()) {
    const bool zero = is_zero(at / shadow_block_size);
    u64 end = (at / shadow_block_size + 1) * shadow_block_size;
    while (end - at < destination.size() && is_zero(end / shadow_block_size) == zero)
      end += shadow_block_size;
    const auto part = destination.first(std::min<u64>(destination.size(), end - at));
    if (zero)
      std::ranges::fill(part, std::byte{0});
    else
      COLDTRACE_TRY(read_kept(at, at, part));
    at += part.size();
    destination = destination.subspan(part.size());
  }
  return core::Done{};
}

// Puts the sectors of overlays over what the rest of their blocks is.
core::Result<core::Done> ShadowImage::lay_over(u64 at, std::span<std::byte> destination) const {
  const u64 end = at + destination.size();
  for (auto overlay =
           std::ranges::lower_bound(overlays_, at / shadow_block_size, {}, &ShadowOverlay::block);
       overlay != overlays_.end() && overlay->block * shadow_block_size < end; ++overlay) {
    for (u64 sector = 0; sector < shadow_block_size / overlay_sector; ++sector) {
      if ((overlay->sectors >> sector & 1) == 0) continue;
      const u64 first = overlay->block * shadow_block_size + sector * overlay_sector;
      const u64 from = std::max(first, at);
      const u64 to = std::min(first + overlay_sector, end);
      if (from >= to) continue;
      COLDTRACE_TRY(read_kept(from, overlay->origin + from % shadow_block_size,
                              destination.subspan(from - at, to - from)));
    }
  }
  return core::Done{};
}

}  // namespace coldtrace::ntfs
