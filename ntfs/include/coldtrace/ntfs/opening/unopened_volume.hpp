#pragma once

#include <optional>

#include "coldtrace/core/error.hpp"
#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/ntfs/opening/image_volumes.hpp"

namespace coldtrace::ntfs {

// Why a volume could not be opened.
enum class UnopenedReason : u8 {
  no_mft,        // the image is not a $MFT, but has type `kind`
  damaged_mft,   // the image is one, but damaged
  no_record_0,   // $MFT has no usable record 0 at the chosen place
  beyond_end,    // it starts beyond the end of the image
  unreadable,    // its first sector cannot be read
  no_volume,     // the image is a file of type `kind`, neither a disk nor a volume
  damaged,       // its first sector belongs to an NTFS volume
  cut_off,       // the same, and the image ends before its $MFT, where `error` is
  erased_log,    // the image is FF throughout, as an erased $LogFile is
  lost,          // unknown contents, in which a $MFT was searched for
  other_volume,  // it is a volume of type `kind`
};

// The reason, and what is there instead.
struct UnopenedVolume {
  UnopenedReason reason;
  core::FileKind kind;     // of what is there
  core::ParseError error;  // the error of reading it
};

// For a volume that open_volume() could not open.
[[nodiscard]] UnopenedVolume explain_unopened(const ImageVolumes& image, const Partition& partition,
                                              const core::ParseError& error);

// The kind of an image that is not partitioned and whose first bytes are those of a file that is
// neither a disk nor a volume. Nothing if they are of no known kind: a volume may have lost its
// first sector.
[[nodiscard]] std::optional<core::FileKind> find_other_file(const ImageVolumes& image);

}  // namespace coldtrace::ntfs
