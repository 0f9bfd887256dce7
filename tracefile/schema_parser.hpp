#pragma once

#include <tl/expected.hpp>

#include "tracefile/schema_language.hpp"

namespace coldtrace::tracefile {

// What is wrong with a schema text, and where: lines and columns count from 1, columns in bytes.
struct SchemaError {
  u32 line;
  u32 column;
  std::string message;
};

// "3:14: expected ';'"
std::string to_string(const SchemaError& error);

// Reads a whole schema text (docs/trace-schema.md); the first error ends it.
tl::expected<std::vector<Schema>, SchemaError> parse_schemas(std::string_view text);

}  // namespace coldtrace::tracefile
