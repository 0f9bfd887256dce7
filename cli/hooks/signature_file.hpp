#pragma once

#include <string>
#include <vector>

#include "coldtrace/signatures/signature.hpp"

namespace coldtrace::cli {

// The signatures of a file; of an empty path those that are built in. Throws Failure with the place
// of an error.
std::vector<syscall_map::Signature> open_signatures(const std::string& path);

}  // namespace coldtrace::cli
