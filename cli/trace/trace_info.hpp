#pragma once

#include "cli/trace/trace_input.hpp"

namespace coldtrace::cli {

class TraceSchemas;

// The document of "trace info", for a trace that was opened for its counts.
// `schemas` are the files of --schemas; null: none were given.
void write_trace_info(JsonWriter& json, const TraceInput& input,
                      const std::vector<FailedInput>& failed,
                      const TraceSchemas* schemas = nullptr);

}  // namespace coldtrace::cli
