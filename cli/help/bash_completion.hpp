#pragma once

#include <string>

#include "cli/help/command_tree.hpp"

namespace coldtrace::cli {

// A bash script that completes `root`: programmable completion, without the bash-completion
// package.
std::string bash_completion(const CommandInfo& root);

}  // namespace coldtrace::cli
