#pragma once

#include <optional>
#include <span>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/core/result.hpp"
#include "coldtrace/ntfs/bitlocker/bitlocker_volumes.hpp"
#include "coldtrace/ntfs/disk/image_file.hpp"
#include "coldtrace/ntfs/disk/partition.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// Which volumes of an image are read: with nothing said, each NTFS volume that it has.
struct VolumeChoice {
  std::optional<u32> partition = {};     // the one with this number
  std::optional<u64> offset = {};        // the one that starts at this byte, listed or not
  std::optional<u64> mft_offset = {};    // the one whose record 0 of $MFT is at this byte
  std::optional<u32> cluster_size = {};  // of volumes without a usable boot sector
  bool mft_only = false;                 // the image is a $MFT, whatever it begins with

  [[nodiscard]] bool locates() const { return partition || offset || mft_offset; }
};

// As what an image is read.
enum class ImageContent : u8 {
  disk,      // or a volume
  mft,       // a $MFT alone
  unopened,  // it holds a disk in an arrangement that was not opened, files alone, or nothing
};

// Its contents decide where the choice does not: what locates a volume makes a disk of it.
[[nodiscard]] ImageContent content_of(const ImageFile& file, const VolumeChoice& choice);

// An image with what is on it.
struct ImageVolumes {
  ImageFile file;  // BitLocker volumes that are opened are decrypted in it
  const core::ImageSource* stored = nullptr;  // its bytes as they are
  Disk disk;                                  // of a $MFT: itself as number 0
  BitLockerVolumes bitlocker;
  std::size_t keys = 0;                     // that were given
  std::optional<Partition> at_offset = {};  // what starts at the offset of the choice, in the image
  bool is_mft = false;
};

// Finds the partitions of an image and opens its BitLocker volumes. Keys are for those of a disk.
[[nodiscard]] ImageVolumes read_volumes(ImageFile file, const VolumeChoice& choice,
                                        std::span<const BitLockerKey> keys,
                                        core::Findings& findings);

// What an image has of them.
struct ChosenVolumes {
  std::vector<Partition> volumes;
  std::vector<Partition> locked;  // BitLocker volumes that are chosen too, and no key opens
};

// Why there is nothing of what was chosen.
enum class NoVolume : u8 {
  beyond_end,    // the offset is not in the image
  no_partition,  // has that number
  no_ntfs,       // is on the disk, or what is not a disk is no volume of NTFS
};

// The volumes that are read of an image that read_volumes() has read for this choice; one of both
// lists has some.
[[nodiscard]] core::Expected<ChosenVolumes, NoVolume> choose_volumes(const ImageVolumes& image,
                                                                     const VolumeChoice& choice);

// Opens one of them in `source`, the image as it is now or as a shadow copy has it, which outlives
// the volume.
[[nodiscard]] core::Result<Volume> open_volume(const ImageVolumes& image,
                                               core::Borrowed<core::ImageSource> source,
                                               const Partition& partition,
                                               const VolumeChoice& choice,
                                               core::Findings& findings);

}  // namespace coldtrace::ntfs
