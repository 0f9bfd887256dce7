#pragma once

#include <string>
#include <vector>

#include "cli/help/command_tree.hpp"

namespace coldtrace::cli {

// bash, zsh, fish
const std::vector<std::string>& completed_shells();

// A script for this shell that completes the commands below `root`, their options, and the values
// that these take: choices, codes of findings, files.
std::string shell_completion(const CommandInfo& root, const std::string& shell);

}  // namespace coldtrace::cli
