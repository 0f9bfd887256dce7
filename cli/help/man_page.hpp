#pragma once

#include <string>

#include "cli/help/command_tree.hpp"

namespace coldtrace::cli {

// The manual page of a command or group, section 1, in the macros of man(7).
std::string man_page(const CommandInfo& command);

}  // namespace coldtrace::cli
