#pragma once

#include "coldtrace/tracefile/events/clock.hpp"
#include "coldtrace/tracefile/events/event.hpp"

namespace coldtrace::tracefile {

// The clock of a file whose trace has another one: what it said turned into what that of the trace
// would have said at the same time by the start of each session. Clocks of one rate lose nothing,
// others what is below 100 ns.
struct ClockChange {
  Clock from, to;

  [[nodiscard]] i64 apply(i64 timestamp) const { return from.to_other(timestamp, to); }
};

// A raw value that the payload of an event has of its clock, in that of the trace.
[[nodiscard]] inline i64 in_clock_of_trace(const Event& event, i64 timestamp) {
  return event.other_clock == nullptr ? timestamp : event.other_clock->apply(timestamp);
}

}  // namespace coldtrace::tracefile
