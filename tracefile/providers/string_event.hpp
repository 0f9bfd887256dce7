#pragma once

#include <memory>

#include "coldtrace/tracefile/events/event.hpp"
#include "coldtrace/tracefile/fields/field_schema.hpp"

namespace coldtrace::tracefile {

// Whether the event is one that EventWriteString logs: id and version 0, and one text. Its header
// says so, or else its payload does: a text of characters, ended by the only NUL, and long enough
// not to be a number or an address.
// Source: Windows SDK evntcons.h, EVENT_HEADER_FLAG_STRING_ONLY; MS Learn "EventWriteString".
bool is_string_event(const Event& event);

// The one field of such an event, which counts where nothing else describes it.
std::shared_ptr<const EventSchema> string_event_schema();

}  // namespace coldtrace::tracefile
