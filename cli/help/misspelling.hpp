#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>

namespace coldtrace::cli {

// Says that `word` is not a command of `group`, and suggests the commands of that name below it, or
// the nearest one.
std::string no_command_message(CLI::App& group, const std::string& word);

// The message for a line that `app` could not parse: the word that is not a command, or the option
// that the command does not have or that stands before it, with the nearest existing one or its new
// name; the option that lacks its value; brief help if no command was named at all; otherwise what
// `error` says. `words` are the arguments after the program's name.
std::string usage_message(CLI::App& app, const CLI::ParseError& error,
                          const std::vector<std::string>& words);

// The message for the first option of a line that has nothing after its '=', or a list of commas
// alone: CLI11 takes the next word for its value, which may be an input. Empty if there is none.
std::string empty_value_message(CLI::App& app, const std::vector<std::string>& words);

}  // namespace coldtrace::cli
