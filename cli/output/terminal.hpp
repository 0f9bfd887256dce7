#pragma once

#include <cstddef>

namespace coldtrace::cli {

struct OutputOptions;

// Whether a person sees the results directly: standard output is a terminal, or a pager shows it on
// one.
bool is_shown_on_terminal(const OutputOptions& output);

// The columns of the terminal on standard output; 80 if it is not a terminal or does not tell.
std::size_t terminal_columns();

// From now on standard output counts as the terminal that it is now, whatever replaces it.
void keep_terminal();

}  // namespace coldtrace::cli
