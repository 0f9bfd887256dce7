#pragma once

#include "coldtrace/core/reader.hpp"
#include "coldtrace/tracefile/fields/field_schema.hpp"

namespace coldtrace::tracefile {

// Reads the schema that a TraceLogging event carries in its extended data. `provider_name` is that
// of its provider traits.
// Source: Windows SDK TraceLoggingProvider.h; checked on the events of 13 files.
core::Result<EventSchema> read_trace_logging_schema(core::ByteView item,
                                                    std::string_view provider_name, u64 offset);

}  // namespace coldtrace::tracefile
