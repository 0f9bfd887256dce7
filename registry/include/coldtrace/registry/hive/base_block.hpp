#pragma once

#include <string>

#include "coldtrace/core/file_time.hpp"
#include "coldtrace/core/reader.hpp"

namespace coldtrace::registry {

// The first sector of a hive or of one of its logs. Source for everything about hives here: M.
// Suhanov, "Windows registry file format specification".
struct BaseBlock {
  static constexpr u64 sector_size = 512;  // what the checksum covers, and all that a log has
  static constexpr u64 size = 4096;        // where bins begin
  static constexpr u64 sequence_offset = 4;
  static constexpr u64 type_offset = 28;
  static constexpr u64 bins_size_offset = 40;
  static constexpr u64 checksum_offset = 508;

  u32 primary_sequence;
  u32 secondary_sequence;
  core::FileTime last_written;
  u32 minor_version;  // 3 to 6
  u32 type;           // 0: hive, 1 and 2: old log, 6: log with entries
  u32 root;           // cell of the root key, in bytes from the first bin
  u32 bins_size;      // bytes
  std::string name;   // the last 31 units of the hive's path, as exact text; may be empty
  u32 checksum;
  u32 expected_checksum;

  [[nodiscard]] bool has_checksum() const { return checksum == expected_checksum; }
  // Changes that only the logs have may be missing.
  [[nodiscard]] bool is_dirty() const {
    return !has_checksum() || primary_sequence != secondary_sequence;
  }
  [[nodiscard]] bool is_log() const { return type == 1 || type == 2 || type == 6; }
};

// Fails if it is not a base block: another signature, or fewer bytes than a sector.
core::Result<BaseBlock> read_base_block(core::ByteView file);

// The checksum that the first 508 bytes of a sector should have.
[[nodiscard]] u32 base_block_checksum(core::ByteView sector);

}  // namespace coldtrace::registry
