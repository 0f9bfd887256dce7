#pragma once

#include "coldtrace/tracefile/events/event.hpp"

namespace coldtrace::tracefile {

// Tells by the header of an event that nobody will ask for it, before the rest of the trace is
// known. Buffers without an event that it lets through need not be read again.
class EventSieve {
 public:
  EventSieve(const EventSieve&) = delete;
  EventSieve& operator=(const EventSieve&) = delete;
  virtual ~EventSieve() = default;
  // Whether the event may be wanted. Called by several threads at once. Processes and threads of
  // kernel events that have none in their headers are not yet known.
  [[nodiscard]] virtual bool lets_through(const Event& event) const = 0;

 protected:
  EventSieve() = default;
};

}  // namespace coldtrace::tracefile
