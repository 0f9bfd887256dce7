#pragma once

#include <cstddef>
#include <string_view>

#include "cli/output/output.hpp"

namespace coldtrace::cli {

// Writes a line that is split on a narrow terminal: at blanks, or after commas if there are any;
// lines after the first are indented by `indent` columns.
void write_wrapped(Output& output, std::string_view line, std::size_t indent);

}  // namespace coldtrace::cli
