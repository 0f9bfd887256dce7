#pragma once

#include <optional>

#include "coldtrace/tracefile/trace_header.hpp"

namespace coldtrace::tracefile {

// Where the first of the records starts that lie inside of `event` because its Size is damaged;
// nothing where Size may be right. `next` is where the walk would go on, and `latest` the time of
// the events before.
//
// The records follow one another up to `next` or, where none starts there, beyond it. At least one
// has a time, or they are three. None is earlier than the event around them, and that tells them
// from records that a payload holds: those were there before their event.
std::optional<u32> find_swallowed_records(core::ByteView bytes, const BufferContext& context,
                                          const Event& event, u32 next, std::optional<i64> latest);

}  // namespace coldtrace::tracefile
