#pragma once

#include <cstddef>
#include <string>

#include "cli/help/command_tree.hpp"

namespace coldtrace::cli {

enum class HelpLength {
  brief,  // -h: without the options that all commands share, and without what exit codes mean
  whole   // --help
};

// In lines of at most `width` columns, but for words that are longer.
std::string help_text(const CommandInfo& command, HelpLength length, std::size_t width);

// Each line of `text` in such lines, the first of which starts behind `indent` columns that are
// there already.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width);

// Lines of examples, of which longer ones go on below, as a shell reads them.
std::string folded_examples(const std::string& examples, std::size_t width);

// That of the terminal which standard output is; 80 where it is none.
std::size_t output_width();

}  // namespace coldtrace::cli
