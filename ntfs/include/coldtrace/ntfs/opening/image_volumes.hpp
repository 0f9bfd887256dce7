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
#include "coldtrace/ntfs/shadow/shadow_copy.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// Which volumes of an image are read; by default, each NTFS volume in it.
struct VolumeChoice {
  std::optional<u32> partition = {};     // the volume with this number
  std::optional<u64> offset = {};        // the volume that starts at this byte, listed or not
  std::optional<u64> mft_offset = {};    // the volume whose $MFT record 0 is at this byte
  std::optional<u32> cluster_size = {};  // of volumes without a usable boot sector
  bool mft_only = false;                 // the image is a $MFT, whatever its first bytes

  [[nodiscard]] bool locates() const { return partition || offset || mft_offset; }
};

// The type as which an image is read.
enum class ImageContent : u8 {
  disk,      // or a volume
  mft,       // only a $MFT
  unopened,  // it contains a disk in a format that was not opened, only files, or nothing
};

// Its contents decide if the choice does not: options that locate a volume make it a disk.
[[nodiscard]] ImageContent content_of(const ImageFile& file, const VolumeChoice& choice);

// An image and its contents.
struct ImageVolumes {
  ImageFile file;                             // with opened BitLocker volumes decrypted
  const core::ImageSource* stored = nullptr;  // its stored bytes
  Disk disk;                                  // for a $MFT: itself as number 0
  BitLockerVolumes bitlocker;
  std::size_t keys = 0;                     // number of given keys
  std::optional<Partition> at_offset = {};  // what starts at the offset of the choice, in the image
  bool is_mft = false;
};

// Finds the partitions of an image and opens its BitLocker volumes. Keys apply only to a disk's.
[[nodiscard]] ImageVolumes read_volumes(ImageFile file, const VolumeChoice& choice,
                                        std::span<const BitLockerKey> keys,
                                        core::Findings& findings);

// The chosen volumes of an image.
struct ChosenVolumes {
  std::vector<Partition> volumes;
  std::vector<Partition> locked;  // chosen BitLocker volumes that no key opens
};

// Why none of the chosen volumes is available.
enum class NoVolume : u8 {
  beyond_end,    // the offset is beyond the end of the image
  no_partition,  // no partition has that number
  no_ntfs,       // no NTFS volume is on the disk, or what is not a disk is not an NTFS volume
};

// The volumes to read from an image that read_volumes() has read for this choice; at least
// one of the two lists is not empty.
[[nodiscard]] core::Expected<ChosenVolumes, NoVolume> choose_volumes(const ImageVolumes& image,
                                                                     const VolumeChoice& choice);

// Opens one of them in `source`, the image as it is now or from a shadow copy, which must outlive
// the volume.
[[nodiscard]] core::Result<Volume> open_volume(const ImageVolumes& image,
                                               core::Borrowed<core::ImageSource> source,
                                               const Partition& partition,
                                               const VolumeChoice& choice,
                                               core::Findings& findings);

// From where the volume of a partition starts up to the end of the partition.
[[nodiscard]] ShadowPlace place_of(const Partition& partition, const Volume& volume);
// The same of a volume that is opened for this, as it is now. If it cannot be opened, the
// partition.
[[nodiscard]] ShadowPlace find_place(const ImageVolumes& image, const Partition& partition,
                                     const VolumeChoice& choice);

}  // namespace coldtrace::ntfs
