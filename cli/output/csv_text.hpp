#pragma once

#include <string_view>

#include "coldtrace/core/text_buffer.hpp"

namespace coldtrace::cli {

// Cells of CSV as RFC 4180 has them, written straight into a buffer, eight characters at once.

// Whether the cell has to stand in quotes.
bool needs_csv_quotes(std::string_view value);

// The text with every quote of it twice: what stands between the quotes of a cell.
void append_doubled_quotes(core::TextBuffer& csv, std::string_view text);

}  // namespace coldtrace::cli
