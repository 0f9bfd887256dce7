#pragma once

#include <cstddef>
#include <string>

#include "cli/help/command_tree.hpp"

namespace coldtrace::cli {

enum class HelpLength {
  brief,  // -h: without the common options and the meaning of exit codes
  whole   // --help
};

// In lines of at most `width` columns, except for longer words and examples.
std::string help_text(const CommandInfo& command, HelpLength length, std::size_t width);

// Wraps each line of `text` likewise; the first starts after `indent` columns that are there
// already.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width);

// The width of the terminal if standard output is one, else 80.
std::size_t output_width();

}  // namespace coldtrace::cli
