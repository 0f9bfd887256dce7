#pragma once

#include <memory>

#include "coldtrace/tracefile/schema_source.hpp"

namespace coldtrace::tracefile {

// The events that the .NET runtime itself logs, from .NET Framework 4 to .NET 10: those of
// clr_event_table.inc. A version of an event never changes.
std::shared_ptr<const SchemaSource> clr_schemas();

}  // namespace coldtrace::tracefile
