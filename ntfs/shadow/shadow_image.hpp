#pragma once

#include <vector>

#include "ntfs/shadow/store_changes.hpp"

namespace coldtrace::ntfs {

// Where the bytes that a volume had when a copy was made are now, according to this store and all
// newer ones.
struct ShadowMap {
  std::vector<ShadowBlock> blocks;  // by number; all others are where they were
  std::vector<u8> zeros;            // one bit per block that is not in `blocks`
};

// The map of the next newer copy with `changes` applied.
ShadowMap map_older(const ShadowMap& newer, const StoreChanges& changes);

// An image whose volume is as it was.
class ShadowImage final : public core::ImageSource {
 public:
  // `copy_size` is the volume's size at that time. `image` has to outlive the object.
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
