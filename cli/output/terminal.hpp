#pragma once

#include <cstddef>

namespace coldtrace::cli {

struct OutputOptions;

// Whether a person sees the results directly: standard output is a terminal, or a pager shows it on
// one.
bool is_shown_on_terminal(const OutputOptions& output);

// Columns of the terminal that is standard output; if it is none or does not say, those of the
// variable COLUMNS, or else 80.
std::size_t terminal_columns();
// The same of that which is standard error.
std::size_t message_columns();

// From here on standard output counts as the terminal that it is now, whatever replaces it.
void keep_terminal();

}  // namespace coldtrace::cli
