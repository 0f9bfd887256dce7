#pragma once

#include <vector>

#include "ntfs/shadow/store_changes.hpp"

namespace coldtrace::ntfs {

// Where the bytes of a volume are that were there when a copy was made, of this store and all
// newer ones together.
struct ShadowMap {
  std::vector<ShadowBlock> blocks;  // by block; those that are not here are where they were
  std::vector<u8> zeros;            // a bit for each block that is not in `blocks`
};

// What `changes` make of the map of the next newer copy.
ShadowMap map_older(const ShadowMap& newer, const StoreChanges& changes);

// An image with the volume in it as it was.
class ShadowImage final : public core::ImageSource {
 public:
  // `copy_size` is what the volume had then. `image` outlives it.
  ShadowImage(const core::ImageSource& image, ShadowPlace place, u64 copy_size, ShadowMap map,
              std::vector<ShadowOverlay> overlays);

  u64 size() const override;
  u64 available() const override { return image_.available(); }
  std::span<const core::ByteRange> unreliable() const override { return image_.unreliable(); }
  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override;

 private:
  core::Result<core::Done> read_volume(u64 at, std::span<std::byte> destination) const;
  core::Result<core::Done> read_kept(u64 at, u64 origin, std::span<std::byte> destination) const;
  core::Result<core::Done> read_in_place(u64 at, std::span<std::byte> destination) const;
  core::Result<core::Done> lay_over(u64 at, std::span<std::byte> destination) const;
  bool is_zero(u64 block) const;

  const core::ImageSource& image_;
  ShadowPlace place_;
  u64 copy_size_;
  ShadowMap map_;
  std::vector<ShadowOverlay> overlays_;
};

}  // namespace coldtrace::ntfs
