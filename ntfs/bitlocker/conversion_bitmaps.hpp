#pragma once

#include <span>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/bitlocker/bitlocker_metadata.hpp"

namespace coldtrace::ntfs {

// Reads which parts of a volume are encrypted so far, and adds the places where that is stored to
// `zeros`. `lists` are the copies of the list of bitmaps. What cannot be read counts as encrypted,
// with a finding.
void read_conversion_bitmaps(const core::ImageSource& image, std::span<const u64> lists,
                             BitLockerMetadata& metadata, core::Findings& findings);

}  // namespace coldtrace::ntfs
