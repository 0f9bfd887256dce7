#pragma once

#include <string_view>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::schema_files {

// The head of a store: its magic, u32 version, u32 CRC-32C of the rest of the head, u64 size of the
// store, u64 offset and u64 size of the directory, u32 CRC-32C of it, u32 providers, u32 files, u32
// size of a row of a file (0 in version 1). The directory: rows of providers, rows of files, texts.
struct StoreFormat {
  static constexpr std::string_view magic = "CTSCHEMA";
  static constexpr u64 head_size = 56;
  static constexpr u64 checked_from = 16;  // of the head
  // GUID, u64 offset, u32 packed, u32 unpacked, u32 CRC-32C, u32 file, u32 events, u32 name,
  // u32 flags, u32 base (0: none, else its row plus one; not before version 3).
  static constexpr u64 provider_size = 56;
  // u32 path, u32 version, u32 language file, u32 SHA-256, u32 language (not in version 1).
  static constexpr u64 file_size = 20;
  static constexpr u64 first_file_size = 16;
  // The offset of a text is that of its u16 size among the texts.
  static constexpr u32 flag_recreated = 1;

  // Of the directory: some hundred times that of one build of Windows.
  static constexpr u64 largest_directory = u64{64} << 20;
  // Of one provider: ten times the largest one of Windows.
  static constexpr u64 largest_record = u64{8} << 20;
  // Of all records read, unpacked: this, or so many times the size of the store.
  static constexpr u64 least_unpacked = u64{64} << 20;
  static constexpr u64 unpacked_per_byte = 16;
};

}  // namespace coldtrace::schema_files
