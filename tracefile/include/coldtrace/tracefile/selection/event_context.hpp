#pragma once

#include "coldtrace/tracefile/opening/any_trace.hpp"
#include "coldtrace/tracefile/where/event_filter.hpp"

namespace coldtrace::tracefile {

// What events of the trace are understood by; both outlive it.
[[nodiscard]] EventContext event_context_of(const AnyTrace& trace, const SchemaSource& schemas);

}  // namespace coldtrace::tracefile
