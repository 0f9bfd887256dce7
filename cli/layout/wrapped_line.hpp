#pragma once

#include <cstddef>
#include <string_view>

#include "cli/output/output.hpp"

namespace coldtrace::cli {

// Writes a line that a narrow terminal gets as several: broken at blanks, behind commas where there
// are some, those after the first line indented by `indent` columns.
void write_wrapped(Output& output, std::string_view line, std::size_t indent);

}  // namespace coldtrace::cli
