#pragma once

#include <optional>

#include "coldtrace/core/error.hpp"
#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/ntfs/opening/image_volumes.hpp"

namespace coldtrace::ntfs {

// Why a volume could not be opened.
enum class UnopenedReason : u8 {
  no_mft,        // the image is not a $MFT, but of `kind`
  damaged_mft,   // it is one
  no_record_0,   // of $MFT is usable where the choice says that it is
  beyond_end,    // it starts behind the end of the image
  unreadable,    // its first sector cannot be read
  no_volume,     // the image is a file of `kind`, no disk and no volume
  damaged,       // its first sector is of an NTFS volume
  lost,          // nothing is known of what is there, which was searched for a $MFT
  other_volume,  // it is of `kind`
};

// And what is there instead.
struct UnopenedVolume {
  UnopenedReason reason;
  core::FileKind kind;     // of what is there
  core::ParseError error;  // what reading it gave
};

// Of a volume that open_volume() could not open.
[[nodiscard]] UnopenedVolume explain_unopened(const ImageVolumes& image, const Partition& partition,
                                              const core::ParseError& error);

// The kind of an image that is not divided and whose first bytes are of a file that is not a disk
// and no volume. Nothing where they are of none that is known: a volume may have lost its first
// sector.
[[nodiscard]] std::optional<core::FileKind> find_other_file(const ImageVolumes& image);

}  // namespace coldtrace::ntfs
