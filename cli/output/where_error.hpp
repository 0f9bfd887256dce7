#pragma once

#include <string_view>

#include "coldtrace/core/text_error.hpp"

namespace coldtrace::cli {

// Prints what is wrong with the expression given to an option: line and column, and a caret below
// the place.
void say_where_error(std::string_view option, std::string_view text, const core::TextError& error);

}  // namespace coldtrace::cli
