#pragma once

#include <string>

#include "cli/help/command_tree.hpp"

namespace coldtrace::cli {

// A fish script that completes `root` by the builtin complete.
std::string fish_completion(const CommandInfo& root);

}  // namespace coldtrace::cli
