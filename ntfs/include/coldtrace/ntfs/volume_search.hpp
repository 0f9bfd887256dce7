#pragma once

#include <optional>

#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/structures/boot_sector.hpp"

namespace coldtrace::ntfs {

// A volume without a usable boot sector, found by its $MFT.
struct FoundVolume {
  u64 offset;  // in the image
  BootSector boot;
  u64 mft_offset;  // of record 0, or of its copy in $MFTMirr, in the image
};

// Where to look for a volume without a usable boot sector.
struct VolumeSearch {
  u64 offset = 0;                   // the presumed start of the volume
  u64 size = 0;                     // the number of bytes from there in which it may lie
  bool anywhere = false;            // it may also start after `offset`
  std::optional<u64> mft_offset;    // record 0 is here: no search
  std::optional<u32> cluster_size;  // not to be inferred
  bool scans = true;                // also behind the usual places of $MFT
};

// The extent of the search if $MFT is not at its usual places.
constexpr u64 longest_volume_search = u64{16} << 30;

// Finds record 0 of $MFT or its copy, and infers the geometry: the size of a cluster from what the
// run lists of the first records map, the start of the volume from the cluster in which record 0
// places itself.
[[nodiscard]] std::optional<FoundVolume> search_volume(const core::ImageSource& image,
                                                       const VolumeSearch& search);

}  // namespace coldtrace::ntfs
