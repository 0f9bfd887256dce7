#pragma once

#include <tl/expected.hpp>

#include "core/text_error.hpp"
#include "tracefile/schema_language.hpp"

namespace coldtrace::tracefile {

// Reads a whole schema text (docs/trace-schema.md); the first error ends it.
tl::expected<std::vector<Schema>, core::TextError> parse_schemas(std::string_view text);

}  // namespace coldtrace::tracefile
