#pragma once

#include "coldtrace/core/reader.hpp"
#include "coldtrace/ntfs/structures/reference.hpp"
#include "coldtrace/ntfs/structures/standard_information.hpp"
#include "coldtrace/ntfs/structures/stored_text.hpp"

namespace coldtrace::ntfs {

// Which programs a name is for. Source: linux-ntfs documentation, "$FILE_NAME".
enum class NameSpace : u8 { posix = 0, win32 = 1, dos = 2, win32_and_dos = 3 };

// A $FILE_NAME: an attribute of a file, and the key of its entry in a directory.
// Source: linux-ntfs documentation, "$FILE_NAME".
struct FileName {
  static constexpr std::size_t fixed_size = 0x42;
  static constexpr u32 directory_flag = 0x1000'0000;  // there is an $I30
  FileReference parent;
  Times times;
  u64 allocated_size;
  u64 size;
  u32 flags;
  u32 reparse_tag;  // or, without the reparse flag, the size of extended attributes
  NameSpace name_space;
  StoredText name;
  u16 id = 0;      // of the attribute; a directory's entry has none
  u64 record = 0;  // the FILE record that contains it
};

// `value` is that of a $FILE_NAME attribute or the key of an index entry, at byte `offset` of the
// image.
core::Result<FileName> read_file_name(core::ByteView value, u64 offset);

// True if the times are plausible: a check for carved bytes that only look like a name.
[[nodiscard]] bool is_plausible(const FileName& name);

}  // namespace coldtrace::ntfs
