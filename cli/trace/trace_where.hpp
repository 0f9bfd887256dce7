#pragma once

#include <optional>
#include <string>

#include "coldtrace/tracefile/where/where_expression.hpp"

namespace coldtrace::cli {

// The expression that an option was given, or nothing once it was said what is wrong with it: line
// and column, and a caret below the place.
std::optional<tracefile::WhereExpression> read_where(std::string_view option,
                                                     std::string_view text);

}  // namespace coldtrace::cli
