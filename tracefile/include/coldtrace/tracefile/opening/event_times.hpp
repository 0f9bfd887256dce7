#pragma once

#include <functional>
#include <optional>

#include "coldtrace/tracefile/ctrace/ctrace.hpp"
#include "coldtrace/tracefile/etl/trace.hpp"

namespace coldtrace::tracefile {

// From the earliest to the latest event of a file, by their own times. A session's header can give
// another begin and end: tools that merge traces keep that of one of them.
struct EventTimes {
  core::FileTime first, last;
};

// Receives the times of each buffer that has events, in file order, and how many it has. False if
// that is not possible for all: without a clock, or if temporary files cannot be read.
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
