#pragma once

#include "cli/output/json.hpp"
#include "coldtrace/trace_synthesis/scenarios.hpp"

namespace coldtrace::cli {

// The JSON of `trace synthesize --format json`. Source: docs/commands/trace-synthesize.md.
void write_answers(JsonWriter& json, std::string_view scenario,
                   const tracefile::ScenarioOptions& options,
                   const tracefile::ScenarioAnswers& answers);

}  // namespace coldtrace::cli
