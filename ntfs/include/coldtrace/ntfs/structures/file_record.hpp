#pragma once

#include "coldtrace/core/reader.hpp"
#include "coldtrace/ntfs/structures/reference.hpp"

namespace coldtrace::ntfs {

inline constexpr u32 magic_file = 0x454c4946;  // "FILE"
inline constexpr u32 magic_bad = 0x44414142;   // "BAAD"

// The header of a FILE record. Source: linux-ntfs documentation, "FILE Record"; NTFS 3.1 added the
// record's own number.
struct FileRecordHeader {
  static constexpr std::size_t size_on_disk = 0x30;
  bool bad;  // chkdsk wrote "BAAD" over a torn record; the rest is often intact
  u16 sequence;
  u16 link_count;  // of $FILE_NAME attributes, both halves of a long and short pair
  u16 first_attribute;
  bool in_use;
  bool directory;
  u32 used_size;
  u32 allocated_size;
  FileReference base;  // of an extension record; zeros in a base record
  std::optional<u32> number;
};

// `record` lies at byte `offset` of the image. FILE and BAAD records have one.
core::Result<FileRecordHeader> read_file_record_header(core::ByteView record, u64 offset);

// True for a record that a disk check marked as not written completely.
[[nodiscard]] bool is_marked_bad(core::ByteView record);

// A record that was never used is all zeros up to here; healthy $MFTs have many.
[[nodiscard]] bool is_unused_record(core::ByteView record);

}  // namespace coldtrace::ntfs
