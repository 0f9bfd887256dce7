#pragma once

#include <optional>

#include "coldtrace/tracefile/etl/trace_header.hpp"

namespace coldtrace::tracefile {

// Records that lie inside of an event.
struct SwallowedRecords {
  u32 first;     // where the first of them starts
  bool certain;  // Size is damaged; else it may be
};

// The records that lie inside of `event` because its Size is damaged; nothing where it is right as
// far as the bytes tell. `next` is where the walk would go on, and `latest` the time of the events
// before.
//
// The records follow one another up to `next` or, where none starts there, beyond it. It is certain
// where at least one has a time, or they are three, and none is earlier than the event around them
// or the one before it: that tells them from records that a payload holds, which were there before
// their event.
std::optional<SwallowedRecords> find_swallowed_records(core::ByteView bytes,
                                                       const BufferContext& context,
                                                       const Event& event, u32 next,
                                                       std::optional<i64> latest);

}  // namespace coldtrace::tracefile
