#pragma once

#include <cstddef>
#include <string_view>

#include "cli/output/output.hpp"

namespace coldtrace::cli {

// Writes a line, broken into several on a narrow terminal: at blanks, after commas if there are
// any, with continuation lines indented by `indent` columns.
void write_wrapped(Output& output, std::string_view line, std::size_t indent);

}  // namespace coldtrace::cli
