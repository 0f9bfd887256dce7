#pragma once

#include <string>

#include "cli/help/command_tree.hpp"

namespace coldtrace::cli {

// A bash script that completes `root` by programmable completion, without the package
// bash-completion.
std::string bash_completion(const CommandInfo& root);

}  // namespace coldtrace::cli
