#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>

namespace coldtrace::cli {

// What to say of the line that `app` could not parse: the word that is no command, or the option
// that the command does not have, with the nearest one that is; brief help where no command was
// named at all; else what `error` says. `words` are the arguments behind the program's name.
std::string usage_message(CLI::App& app, const CLI::ParseError& error,
                          const std::vector<std::string>& words);

}  // namespace coldtrace::cli
