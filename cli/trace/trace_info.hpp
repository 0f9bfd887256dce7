#pragma once

#include "cli/trace/trace_input.hpp"

namespace coldtrace::cli {

// The document of "trace info", of a trace that was opened for its counts.
void write_trace_info(JsonWriter& json, const TraceInput& input);

}  // namespace coldtrace::cli
