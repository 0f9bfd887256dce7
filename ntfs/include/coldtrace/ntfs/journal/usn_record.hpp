#pragma once

#include <optional>

#include "coldtrace/core/file_time.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/ntfs/structures/reference.hpp"
#include "coldtrace/ntfs/structures/stored_text.hpp"

namespace coldtrace::ntfs {

// A range of a file in a version 4 record.
struct UsnExtent {
  u64 offset;
  u64 length;
};

// One record of a change journal, $UsnJrnl:$J. Views bytes owned elsewhere. Source: [MS-FSCC]
// 2.3.65.1 and 2.3.65.2, and the Windows SDK's winioctl.h, USN_RECORD_V2 to V4.
struct UsnRecord {
  static constexpr u32 smallest = 0x3c;  // the fixed part of version 2
  // With a name of 255 units, or as many extents as leave the page's other records their room.
  static constexpr u32 page_size = 4096;  // no record crosses a multiple of it
  static constexpr u32 attribute_directory = 0x10;

  u16 major;
  u16 minor;
  u32 length;
  FileReference file;
  FileReference parent;
  u64 file_high = 0;  // the upper half of 128-bit numbers, which NTFS leaves 0
  u64 parent_high = 0;
  u64 usn;
  u32 reasons;
  u32 sources;
  // Version 4 has neither of these, and no name.
  std::optional<core::FileTime> time;  // also absent if 0 is stored
  std::optional<u32> security_id;
  std::optional<u32> attributes;
  StoredText name;
  core::ByteView extents;  // of version 4
  u32 extents_left = 0;    // in records that follow

  [[nodiscard]] bool closes() const { return (reasons & 0x8000'0000) != 0 && major != 4; }
  [[nodiscard]] bool is_directory() const {
    return attributes && (*attributes & attribute_directory) != 0;
  }
  [[nodiscard]] u64 end() const { return usn + length; }
  [[nodiscard]] u64 extent_count() const { return extents.size() / sizeof(UsnExtent); }
  // `index` is below extent_count(). Source: USN_RECORD_EXTENT.
  [[nodiscard]] UsnExtent extent(u64 index) const;
};

// Reads the record at the start of `bytes`, which lie at `offset` of the image. Values that no
// record of NTFS has are an error, so that a search for records after damage finds few false ones.
core::Result<UsnRecord> read_usn_record(core::ByteView bytes, u64 offset);

}  // namespace coldtrace::ntfs
