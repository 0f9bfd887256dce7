#pragma once

#include <optional>
#include <string>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::ntfs {

// One of the two restart pages at the start of a $LogFile, and the client in it, which is NTFS.
// Source: linux-ntfs documentation, "$LogFile", and the headers of Linux's ntfs3 (fslog.c);
// observed on 18 logs of Windows.
struct LogRestart {
  static constexpr u32 page_size = 4096;  // and the second page follows the first
  static constexpr u16 flag_clean = 2;

  u64 offset;         // in the log
  bool after_chkdsk;  // "CHKD": written by a disk check
  bool torn;          // a fixup does not match
  u64 chkdsk_lsn;
  u32 log_page_size;
  u16 major;
  u16 minor;
  u64 current_lsn;
  u16 flags;
  u32 sequence_bits;  // of an LSN, above the offset
  u64 file_size;
  u16 record_header_size;
  u16 data_offset;                // of the first record in a page
  std::optional<u64> oldest_lsn;  // of the client, where its restart begins
  std::optional<u64> restart_lsn;
  std::string client;  // "NTFS"

  // Observed: set in all logs of volumes that were unmounted, in no others.
  [[nodiscard]] bool clean() const { return (flags & flag_clean) != 0; }
  // Copies of the newest pages precede the circular part: two, or 32 since version 2, which a
  // volume has while Windows 8 and later use it.
  [[nodiscard]] u64 first_page() const { return major < 2 ? 4 : 34; }
  // The byte of the log to which a log sequence number leads: its low bits, in units of eight.
  [[nodiscard]] u64 offset_of(u64 lsn) const {
    return (lsn & ((u64{1} << (64 - sequence_bits)) - 1)) << 3;
  }
};

// Reads a restart page of `page_size` bytes at `offset` of the log, and undoes its fixups.
core::Result<LogRestart> read_log_restart(std::span<std::byte> page, u64 offset);

}  // namespace coldtrace::ntfs
