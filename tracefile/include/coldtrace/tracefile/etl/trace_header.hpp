#pragma once

#include "coldtrace/core/reader.hpp"
#include "coldtrace/tracefile/etl/buffer_header.hpp"
#include "coldtrace/tracefile/events/event.hpp"
#include "coldtrace/tracefile/events/header_type.hpp"

namespace coldtrace::tracefile {

// What the events of one buffer have in common.
struct BufferContext {
  u64 offset;                                // of the buffer in the file
  bool compressed;                           // offsets in the buffer are none of the file
  std::optional<u16> cpu;                    // of the buffer; nothing when processors share buffers
  const ClockChange* other_clock = nullptr;  // as that of events
};

// Where in the file the bytes at `offset` of the buffer lie; the buffer when it is compressed.
[[nodiscard]] constexpr u64 place_of(const BufferContext& context, u32 offset) {
  return context.compressed ? context.offset : context.offset + offset;
}

// Events of the header group have the time of the session's start wherever they lie.
[[nodiscard]] inline bool is_of_the_session(const Event& event) {
  return event.kernel_group == u8{0};
}

// Whether the event's time is when it happened.
[[nodiscard]] inline bool has_time_of_its_own(const Event& event) {
  return event.has_time && !is_of_the_session(event);
}

// One event of a buffer, or why there is none.
struct EventRead {
  bool ok;
  u32 next;                // offset of the next event
  core::ParseError error;  // when not ok
};

// The size that the first eight bytes of an event say, no more than `room`; 0 when they are none,
// or none of the kinds that events in files have.
[[nodiscard]] u32 record_size(core::ByteView bytes, u32 room);
[[nodiscard]] inline bool starts_record(core::ByteView bytes, u32 room) {
  return record_size(bytes, room) != 0;
}

// Reads the event at `offset` of the uncompressed buffer `bytes`, which ends with its last event.
EventRead read_event(core::ByteView bytes, u32 offset, const BufferContext& context, Event& event);

// The same but for its extended data, which stays in front of the payload.
EventRead peek_event(core::ByteView bytes, u32 offset, const BufferContext& context, Event& event);

}  // namespace coldtrace::tracefile
