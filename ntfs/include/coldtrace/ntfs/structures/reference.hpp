#pragma once

#include <compare>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::ntfs {

// Numbers of clusters, which are not to be confused.
enum class Lcn : u64 {};  // logical cluster number: counted from the start of the volume
enum class Vcn : u64 {};  // virtual cluster number: counted from the start of a stream

// Identifies a FILE record and the generation of its use. Source: linux-ntfs documentation, "File
// Reference"; 48 bits of number, 16 of sequence.
struct FileReference {
  u64 record = 0;
  u16 sequence = 0;
  friend auto operator<=>(FileReference, FileReference) = default;
};

// Of a stored reference: 48 bits of record number, 16 of sequence number.
[[nodiscard]] constexpr FileReference to_file_reference(u64 stored) {
  return {stored & 0xffff'ffff'ffff, static_cast<u16>(stored >> 48)};
}

// As NTFS stores it; a number for each use of a record.
[[nodiscard]] constexpr u64 to_stored(FileReference file) {
  return file.record | u64{file.sequence} << 48;
}

constexpr u64 root_record = 5;

// Records with fixed numbers. Source: linux-ntfs documentation, "Files: Overview".
enum class SystemRecord : u64 {
  mft = 0,
  mft_mirror = 1,
  log_file = 2,
  volume = 3,
  bitmap = 6,
  bad_clusters = 8,
  secure = 9,
  extend = 11,
};

// The first record for users' files; earlier ones belong to the system or to $MFT itself.
constexpr u64 first_user_record = 24;

}  // namespace coldtrace::ntfs
