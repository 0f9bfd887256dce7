#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>

namespace coldtrace::cli {

// That `word` is not a command of `group`, with those of the name below it, or else the nearest
// one.
std::string no_command_message(CLI::App& group, const std::string& word);

// What to say of the line that `app` could not parse: the word that is not a command, or the option
// that the command does not have or that stands before it, with the nearest one that is, or its new
// name; the option that lacks its value; brief help where no command was
// named at all; else what `error` says. `words` are the arguments behind the program's name.
std::string usage_message(CLI::App& app, const CLI::ParseError& error,
                          const std::vector<std::string>& words);

// What to say of the first option of a line that has nothing behind its '=', or a list that has
// commas alone: CLI11 takes the next word for its value, which may be an input. Empty: there is
// none.
std::string empty_value_message(CLI::App& app, const std::vector<std::string>& words);

}  // namespace coldtrace::cli
