#pragma once

#include <string_view>

#include "coldtrace/core/text_buffer.hpp"

namespace coldtrace::cli {

// CSV cells by RFC 4180, written directly to a buffer, eight characters at a time.

// Whether the cell has to be quoted.
bool needs_csv_quotes(std::string_view value);

// Appends the text with every quote doubled, to go between the quotes of a cell.
void append_doubled_quotes(core::TextBuffer& csv, std::string_view text);

}  // namespace coldtrace::cli
