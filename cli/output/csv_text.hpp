#pragma once

#include <string_view>

#include "coldtrace/core/text_buffer.hpp"

namespace coldtrace::cli {

// CSV cells according to RFC 4180, written straight into a buffer, eight characters at a time.

// Whether the cell must be quoted.
bool needs_csv_quotes(std::string_view value);

// Appends the text with every quote doubled: what is between the quotes of a cell.
void append_doubled_quotes(core::TextBuffer& csv, std::string_view text);

}  // namespace coldtrace::cli
