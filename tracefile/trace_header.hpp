#pragma once

#include "core/reader.hpp"
#include "tracefile/buffer_header.hpp"
#include "tracefile/event.hpp"

namespace coldtrace::tracefile {

// Types of trace header; the second of a pair is of 64-bit producers.
// Source: Windows SDK ntwmi.h, TRACE_HEADER_TYPE_*.
enum class HeaderType : u8 {
  system32 = 1,
  system64 = 2,
  compact32 = 3,
  compact64 = 4,
  full32 = 10,
  instance32 = 11,
  timed = 12,
  error = 13,
  wnode = 14,
  message = 15,
  perfinfo32 = 16,
  perfinfo64 = 17,
  event32 = 18,
  event64 = 19,
  full64 = 20,
  instance64 = 21,
};

std::string_view to_string(HeaderType type);

// What the events of one buffer have in common.
struct BufferContext {
  u64 offset;              // of the buffer in the file
  bool compressed;         // offsets in the buffer are none of the file
  std::optional<u16> cpu;  // of the buffer; nothing when processors share buffers
};

// One event of a buffer, or why there is none.
struct EventRead {
  bool ok;
  u32 next;                // offset of the next event
  core::ParseError error;  // when not ok
};

// Reads the event at `offset` of the uncompressed buffer `bytes`, which ends with its last event.
EventRead read_event(core::ByteView bytes, u32 offset, const BufferContext& context, Event& event);

// The events of one uncompressed buffer in their order, up to filler, the end or damage.
class BufferWalker {
 public:
  BufferWalker() = default;
  // `pointer_size` overrides that of the events when it is not 0.
  BufferWalker(core::ByteView bytes, const BufferContext& context, u32 offset,
               unsigned pointer_size = 0);

  // False at the end; event() is valid after true.
  bool next();
  const Event& event() const { return event_; }

  bool damaged() const { return damaged_; }
  const core::ParseError& error() const { return error_; }  // when damaged
  u32 offset() const { return next_; }                      // of what next() reads

 private:
  core::ByteView bytes_;
  BufferContext context_{0, false, std::nullopt};
  u32 next_ = 0;
  u8 pointer_size_ = 0;
  bool damaged_ = false;
  core::ParseError error_{core::Fault::truncated, 0, "", "", 0, 0};
  Event event_{};
};

}  // namespace coldtrace::tracefile
