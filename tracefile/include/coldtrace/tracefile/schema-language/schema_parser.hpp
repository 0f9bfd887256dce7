#pragma once

#include "coldtrace/core/result.hpp"
#include "coldtrace/core/text_error.hpp"
#include "coldtrace/tracefile/schema-language/schema_language.hpp"

namespace coldtrace::tracefile {

// Reads a whole schema text (docs/languages/trace-schema.md); the first error ends it.
core::Expected<std::vector<Schema>, core::TextError> parse_schemas(std::string_view text);

}  // namespace coldtrace::tracefile
