#pragma once

#include "coldtrace/tracefile/events/event.hpp"
#include "coldtrace/tracefile/where/where_expression.hpp"

namespace coldtrace::tracefile {

// What a member compares as that the header of the event itself has, whatever the rest of the trace
// says; nothing of other members. Process and thread are those of the event as it is.
std::optional<Subject> read_header_member(WhereMember member, const Event& event);

}  // namespace coldtrace::tracefile
