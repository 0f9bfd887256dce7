#pragma once

#include <optional>

#include "coldtrace/tracefile/ctrace/ctrace.hpp"
#include "coldtrace/tracefile/etl/trace.hpp"

namespace coldtrace::tracefile {

// From the earliest to the latest event of a file, by their own times. What a session's header says
// of its begin and end can be another time: tools that merge traces keep that of one of them.
struct EventTimes {
  core::FileTime first, last;
};

// Nothing without events, or without a clock.
std::optional<EventTimes> find_event_times(const BufferScan& scan, const Clock& clock);
std::optional<EventTimes> find_event_times(const Ctrace& trace, const CtracePart& part);

}  // namespace coldtrace::tracefile
