#pragma once

#include <optional>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/reader.hpp"

namespace coldtrace::tracefile {

// The header of a buffer of a .ctrace file. Source: docs/formats/trace-format.md.
struct CtraceBufferHeader {
  static constexpr std::size_t size_on_disk = 64;
  static constexpr u32 largest_length = 32U << 20;
  static constexpr std::size_t crc_offset = 8;
  static constexpr u32 not_all_committed = 1;  // bit of flags
  enum class Kind : u8 { entries = 0, end = 1 };

  u32 crc;
  u32 length;  // of the entries
  u16 processor;
  Kind kind;
  u32 sequence;
  u32 lost;
  u32 flags;
  u64 cycles;     // calibration pair
  u64 file_time;  // 0: there is none
};

// `bytes` begin with the header and lie at byte `offset` of the file.
core::Result<CtraceBufferHeader> read_ctrace_buffer_header(core::ByteView bytes, u64 offset);

// Of header and entries, without the four bytes of the CRC itself.
[[nodiscard]] u32 ctrace_buffer_crc(core::ByteView buffer);

// One entry of a buffer.
struct CtraceEntry {
  u64 stamp;
  u16 type;
  u8 version;
  bool committed;
  u32 offset;  // in the buffer
  core::ByteView data;
};

// The entries of one buffer in order. If an entry was never written, the walk goes on at the next
// place from which entries follow each other to the end.
class CtraceEntries {
 public:
  // `buffer` starts with the header; `from` is the offset of an entry in it.
  CtraceEntries() = default;
  CtraceEntries(core::BorrowedBytes buffer, u32 sequence, u32 from)
      : buffer_{buffer.get()}, sequence_{sequence}, at_{from} {}

  enum class Item : u8 { entry, torn, end };
  // `torn`: bytes that are no entry, up to the next place where one begins.
  Item next();

  [[nodiscard]] const CtraceEntry& entry() const { return entry_; }
  [[nodiscard]] u32 offset() const { return at_; }  // of what comes next
  // Of the stretch without entries, if there is one.
  [[nodiscard]] u32 torn_offset() const { return torn_offset_; }
  [[nodiscard]] u32 torn_length() const { return torn_length_; }

 private:
  // Bytes of the entry at the offset, 0 if there is none.
  u32 size_at(u32 offset) const;
  u32 find_next(u32 offset) const;

  core::ByteView buffer_;
  u32 sequence_ = 0;
  u32 at_ = 0;
  CtraceEntry entry_{};
  u32 torn_offset_ = 0;
  u32 torn_length_ = 0;
};

}  // namespace coldtrace::tracefile
