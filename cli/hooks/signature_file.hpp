#pragma once

#include <string>
#include <vector>

#include "coldtrace/signatures/signature.hpp"

namespace coldtrace::cli {

// The signatures in a file; for an empty path, the built-in ones. Throws Failure with the place of
// an error.
std::vector<syscall_map::Signature> open_signatures(const std::string& path);

}  // namespace coldtrace::cli
