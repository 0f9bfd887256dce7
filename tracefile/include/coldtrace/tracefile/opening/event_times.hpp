#pragma once

#include <functional>
#include <optional>

#include "coldtrace/tracefile/ctrace/ctrace.hpp"
#include "coldtrace/tracefile/etl/trace.hpp"

namespace coldtrace::tracefile {

// From the earliest to the latest event of a file, by their own times. What a session's header says
// of its begin and end can be another time: tools that merge traces keep that of one of them.
struct EventTimes {
  core::FileTime first, last;
};

// Tells the times of each buffer that has events, in file order, and how many it has. False where
// that cannot be told of all: without a clock, or where temporary files cannot be read.
using TimedBuffer = std::function<void(const EventTimes& times, u64 events)>;
[[nodiscard]] bool visit_event_times(const BufferScan& scan, const Clock& clock,
                                     const TimedBuffer& visit);
[[nodiscard]] bool visit_event_times(const Ctrace& trace, const CtracePart& part,
                                     const TimedBuffer& visit);

// Nothing without events, or without a clock.
[[nodiscard]] std::optional<EventTimes> find_event_times(const BufferScan& scan,
                                                         const Clock& clock);
[[nodiscard]] std::optional<EventTimes> find_event_times(const Ctrace& trace,
                                                         const CtracePart& part);

}  // namespace coldtrace::tracefile
