#pragma once

#include <string>
#include <vector>

#include "cli/help/command_tree.hpp"

namespace coldtrace::cli {

// bash, zsh, fish
const std::vector<std::string>& completed_shells();

// A script for this shell that completes the commands below `root`, their options, and the options'
// values: choices, finding codes, files.
std::string shell_completion(const CommandInfo& root, const std::string& shell);

}  // namespace coldtrace::cli
