#pragma once

#include <string>

#include "cli/help/command_tree.hpp"

namespace coldtrace::cli {

// A zsh script that completes `root` by _arguments and _describe.
std::string zsh_completion(const CommandInfo& root);

}  // namespace coldtrace::cli
