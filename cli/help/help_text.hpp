#pragma once

#include <cstddef>
#include <string>

#include "cli/help/command_tree.hpp"

namespace coldtrace::cli {

enum class HelpLength {
  brief,  // -h: the first statement of each option, without those that all commands share and the
          // exit statuses
  whole   // --help
};

// In lines of at most `width` columns, except for longer words.
std::string help_text(const CommandInfo& command, HelpLength length, std::size_t width);

// Wraps each line of `text` in the same way; the first line starts after `indent` columns that are
// already there.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width);

// Lines of examples; longer ones continue on further lines, in a form that a shell accepts.
std::string folded_examples(const std::string& examples, std::size_t width);

// The width of the terminal that is standard output; 80 if it is none.
std::size_t output_width();

}  // namespace coldtrace::cli
