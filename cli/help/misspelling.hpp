#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>

namespace coldtrace::cli {

// Says that `word` is not a command of `group`, and names commands of that name in its groups, or
// else the nearest one.
std::string no_command_message(CLI::App& group, const std::string& word);

// The message for a command line that `app` could not parse: the word that is not a command, or the
// option that the command does not have or that precedes it, with the nearest existing one, or its
// new name; the option without its value; brief help if no command was named at all; else what
// `error` says. `words` are the arguments after the program's name.
std::string usage_message(CLI::App& app, const CLI::ParseError& error,
                          const std::vector<std::string>& words);

// The message for the first option of a line with nothing after its '=', or with a list of nothing
// but commas: CLI11 would take the next word, perhaps an input, for its value. Empty: there is
// none.
std::string empty_value_message(CLI::App& app, const std::vector<std::string>& words);

}  // namespace coldtrace::cli
