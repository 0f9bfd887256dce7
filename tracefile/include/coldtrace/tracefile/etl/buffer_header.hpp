#pragma once

#include "coldtrace/core/reader.hpp"

namespace coldtrace::tracefile {

// WMI_BUFFER_HEADER, which starts every buffer of the file. Buffers lie back to back.
// Source: Windows SDK ntwmi.h, checked on 72 files of Windows Vista to 11.
struct BufferHeader {
  static constexpr std::size_t size_on_disk = 72;
  static constexpr u32 largest_buffer = 32U << 20;  // Windows allows 16 MiB

  // The most that compressed buffers unpack to, for each byte of the file. Source: the buffers of
  // four files of Windows 7 to 11 unpack to at most 14 times their size, whole files to at most 5
  // times.
  static constexpr u64 unpacked_per_byte = 64;

  // BufferFlag.
  static constexpr u16 events_lost = 2;
  static constexpr u16 buffer_lost = 4;
  static constexpr u16 processor_index = 0x20;
  static constexpr u16 compressed = 0x40;
  static constexpr u16 known_flags = 0x7f;

  // BufferType.
  static constexpr u16 header_buffer = 4;
  static constexpr u16 last_type = 7;

  u32 size;       // bytes in the file, this header included
  u32 saved;      // SavedOffset: the same as Offset, except for the first buffer
  u32 filled;     // Offset: bytes with events when uncompressed, this header included
  i64 timestamp;  // of the flush, in the clock of the session or as FILETIME
  i64 sequence;
  u16 processor;
  u16 logger_id;
  u32 state;
  u16 flags;
  u16 type;
};

// Whether the numbers can be those of a buffer: sizes, type and flags that the format allows.
[[nodiscard]] bool is_plausible(const BufferHeader& header);

// The numbers as they are; `bytes` holds a whole header.
[[nodiscard]] BufferHeader load_buffer_header(core::ByteView bytes);

// The header of the buffer at `offset` of the file, which starts `bytes`. Fails if it is not
// plausible.
core::Result<BufferHeader> read_buffer_header(core::ByteView bytes, u64 offset);

}  // namespace coldtrace::tracefile
