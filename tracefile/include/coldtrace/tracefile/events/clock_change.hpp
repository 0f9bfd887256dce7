#pragma once

#include "coldtrace/tracefile/events/clock.hpp"
#include "coldtrace/tracefile/events/event.hpp"

namespace coldtrace::tracefile {

// The clock of a file in a trace that has another one: turns what it showed into what that of the
// trace would have shown at the same time, by the start of each session. Nothing is lost between
// clocks of the same rate; between others, what is below 100 ns is.
struct ClockChange {
  Clock from, to;

  [[nodiscard]] i64 apply(i64 timestamp) const { return from.to_other(timestamp, to); }
};

// A raw value of its clock in the payload of an event, in the clock of the trace.
[[nodiscard]] inline i64 in_clock_of_trace(const Event& event, i64 timestamp) {
  return event.other_clock == nullptr ? timestamp : event.other_clock->apply(timestamp);
}

}  // namespace coldtrace::tracefile
