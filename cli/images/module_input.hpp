#pragma once

#include <optional>
#include <string>

#include "cli/images/pe_input.hpp"

namespace coldtrace::cli {

// Reads a file of a folder. Nothing for a text, a 16-bit program or anything else that is not a
// module; if it should be one and cannot be read, `unreadable` says why.
std::optional<PeInput> open_module(const std::string& path, const PeOptions& options,
                                   std::optional<std::string>& unreadable);

}  // namespace coldtrace::cli
