#pragma once

#include <set>

#include "coldtrace/tracefile/events/event_sequence.hpp"
#include "coldtrace/tracefile/fields/event_schema.hpp"
#include "coldtrace/tracefile/fields/schema_source.hpp"

namespace coldtrace::tracefile {

// The manifest events and WPP messages that a driver has from ETW's callbacks and keeps in events
// of its own (EtwEvent of dynamic_tracing), without those that describe themselves.
std::set<SchemaKey> find_inner_keys(EventSequence& events, const SchemaSource& schemas);

}  // namespace coldtrace::tracefile
