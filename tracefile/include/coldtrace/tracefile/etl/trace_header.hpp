#pragma once

#include "coldtrace/core/reader.hpp"
#include "coldtrace/tracefile/etl/buffer_header.hpp"
#include "coldtrace/tracefile/events/event.hpp"
#include "coldtrace/tracefile/events/header_type.hpp"

namespace coldtrace::tracefile {

// What the events of one buffer have in common.
struct BufferContext {
  u64 offset;                                // of the buffer in the file
  bool compressed;                           // offsets in the buffer are not offsets in the file
  std::optional<u16> cpu;                    // of the buffer; nothing if processors share buffers
  const ClockChange* other_clock = nullptr;  // as that of events
};

// Where in the file the bytes at `offset` of the buffer lie; the buffer if it is compressed.
[[nodiscard]] constexpr u64 place_of(const BufferContext& context, u32 offset) {
  return context.compressed ? context.offset : context.offset + offset;
}

// Events of the header group have the time of the session's start, wherever they are.
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

// The size stated by the first eight bytes of an event, at most `room`; 0 if they do not begin an
// event, or one of a kind that files do not have.
[[nodiscard]] u32 record_size(core::ByteView bytes, u32 room);
[[nodiscard]] inline bool starts_record(core::ByteView bytes, u32 room) {
  return record_size(bytes, room) != 0;
}

// Reads the event at `offset` of the uncompressed buffer `bytes`, which ends with its last event.
EventRead read_event(core::ByteView bytes, u32 offset, const BufferContext& context, Event& event);

// The same, except for its extended data, which stays in front of the payload.
EventRead peek_event(core::ByteView bytes, u32 offset, const BufferContext& context, Event& event);

}  // namespace coldtrace::tracefile
