#pragma once

#include "core/bytes/reader.hpp"
#include "tracefile/etl/buffer_header.hpp"
#include "tracefile/events/event.hpp"
#include "tracefile/events/header_type.hpp"

namespace coldtrace::tracefile {

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

// Whether the first eight bytes of an event are that, and say no more than `room` bytes; of the
// kinds that events in files have.
bool starts_record(core::ByteView bytes, u32 room);

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
