#pragma once

#include <span>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::ntfs {

// Multi-sector structures keep the last two bytes of every 512-byte stride in an array and replace
// them with one number, to detect torn writes. The stride is 512 on all disks. Source: linux-ntfs
// documentation, "Fixup"; stride observed on 4Kn volumes.
constexpr u32 fixup_stride = 512;

// What the update sequence array shows about a structure's integrity.
struct Fixup {
  bool torn = false;        // a stride does not end with the structure's number
  bool incomplete = false;  // the array is absent, misplaced or of the length of another structure
};

// Puts the bytes back, in place. Strides that do not end with the number stay as they are.
Fixup apply_fixups(std::span<std::byte> structure);

}  // namespace coldtrace::ntfs
