#pragma once

#include <string>

#include "cli/help/command_tree.hpp"

namespace coldtrace::cli {

// A script of bash that completes `root`: programmable completion, without its package
// bash-completion.
std::string bash_completion(const CommandInfo& root);

}  // namespace coldtrace::cli
