#pragma once

#include "coldtrace/tracefile/opening/any_trace.hpp"
#include "coldtrace/tracefile/where/event_filter.hpp"

namespace coldtrace::tracefile {

// What is needed to understand events of the trace; both must outlive it.
[[nodiscard]] EventContext event_context_of(const AnyTrace& trace, const SchemaSource& schemas);

}  // namespace coldtrace::tracefile
