#pragma once

#include <memory>

#include "coldtrace/tracefile/fields/schema_source.hpp"

namespace coldtrace::tracefile {

enum class ClrVersions {
  exact,    // that of the event
  nearest,  // else the greatest below it
};

// The events that the .NET runtime itself logs, from .NET Framework 4 to .NET 10: those of
// clr_event_table.inc. A version of an event never changes. From version 1 on, a new one only adds
// fields behind those of the one before, so that an earlier one explains the front of an event.
std::shared_ptr<const SchemaSource> clr_schemas(ClrVersions versions);

}  // namespace coldtrace::tracefile
