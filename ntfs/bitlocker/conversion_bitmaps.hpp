#pragma once

#include <span>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/bitlocker/bitlocker_metadata.hpp"

namespace coldtrace::ntfs {

// Reads what of a volume is encrypted so far, and adds where that is kept to `zeros`. `lists` are
// the copies of the list of bitmaps; what cannot be read counts as encrypted, which a finding says.
void read_conversion_bitmaps(const core::ImageSource& image, std::span<const u64> lists,
                             BitLockerMetadata& metadata, core::Findings& findings);

}  // namespace coldtrace::ntfs
