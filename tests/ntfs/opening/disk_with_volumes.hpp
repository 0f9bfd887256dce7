#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "coldtrace/ntfs/disk/image_file.hpp"
#include "fixtures/builders/ntfs_image.hpp"

namespace coldtrace::tests {

// A disk with a boot record: two NTFS volumes in it, one between them that it does not list, and a
// partition of another type with zeros.
struct DiskWithVolumes {
  static constexpr u64 mebibyte = u64{1} << 20;
  u64 first = 1 * mebibyte, unlisted = 3 * mebibyte, second = 5 * mebibyte, other = 7 * mebibyte;
  u64 mft_offset = 0;  // in each volume
  std::vector<std::byte> bytes = std::vector<std::byte>(8 * mebibyte);

  DiskWithVolumes() {
    fixtures::NtfsImage volume{{.clusters = 256, .records = 60}};
    const auto content = volume.build();
    mft_offset = volume.mft_lcn() * volume.options().cluster_size;
    volume_size_ = content.size();
    for (const auto place : {first, unlisted, second})
      std::ranges::copy(content, bytes.begin() + static_cast<std::ptrdiff_t>(place));
    list(0, 0x07, first, volume_size_);
    list(1, 0x07, second, volume_size_);
    list(2, 0x83, other, mebibyte);
    bytes[510] = std::byte{0x55};
    bytes[511] = std::byte{0xAA};
  }

  // That of a volume, and its copy behind the last cluster.
  void wipe_boot_sectors(u64 place) {
    for (const auto at : {place, place + volume_size_ - 512})
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), 512, std::byte{});
  }

  u64 volume_size() const { return volume_size_; }

  // These bytes, which have to outlive it, as a raw image.
  ntfs::ImageFile open() const {
    ntfs::ImageFile file;
    file.source = std::make_unique<core::MemoryImage>(bytes);
    file.container = "raw";
    file.kind = core::recognize_file(*file.source).value_or(core::FileKind::unknown);
    return file;
  }

 private:
  // Source: "Master boot record" of the PC BIOS: four entries of 16 bytes at 0x1BE.
  void list(std::size_t slot, u8 type, u64 start, u64 size) {
    const auto entry = 0x1BE + 16 * slot;
    bytes[entry + 4] = std::byte{type};
    for (std::size_t i = 0; i < 4; ++i) {
      bytes[entry + 8 + i] = static_cast<std::byte>(start / 512 >> (8 * i));
      bytes[entry + 12 + i] = static_cast<std::byte>(size / 512 >> (8 * i));
    }
  }

  u64 volume_size_ = 0;
};

}  // namespace coldtrace::tests
