#pragma once

#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/bitlocker/bitlocker_metadata.hpp"

namespace coldtrace::ntfs {

// Reads the metadata of the volume that is `volume` of the image. Damaged copies are findings; the
// error says why there is no usable one.
core::Result<BitLockerMetadata> read_bitlocker_metadata(const core::ImageSource& image,
                                                        core::ByteRange volume,
                                                        core::Findings& findings);

}  // namespace coldtrace::ntfs
