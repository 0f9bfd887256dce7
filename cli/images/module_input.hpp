#pragma once

#include <optional>
#include <string>

#include "cli/images/pe_input.hpp"

namespace coldtrace::cli {

// Reads a file of a folder. Nothing of a text, a 16-bit program and whatever else is not a module;
// of one that should be one and cannot be read, `unreadable` tells why.
std::optional<PeInput> open_module(const std::string& path, const PeOptions& options,
                                   std::optional<std::string>& unreadable);

}  // namespace coldtrace::cli
