#pragma once

#include "cli/output/json.hpp"
#include "cli/output/output.hpp"
#include "coldtrace/ntfs/bitlocker/bitlocker_volumes.hpp"

namespace coldtrace::cli {

// The member "bitlocker" of a partition, and its lines of text; null: not a BitLocker volume.
void write_bitlocker(JsonWriter& json, const ntfs::BitLockerVolume* volume, bool named);
void write_bitlocker_text(Output& output, const ntfs::BitLockerVolume& volume, bool named);

}  // namespace coldtrace::cli
