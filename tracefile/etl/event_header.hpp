#pragma once

#include "coldtrace/core/reader.hpp"
#include "coldtrace/tracefile/events/event.hpp"

namespace coldtrace::tracefile {

// Reads EVENT_HEADER, the first 80 bytes of `record`, which must be there; what follows becomes the
// payload.
void read_event_header(core::ByteView record, Event& event);

}  // namespace coldtrace::tracefile
