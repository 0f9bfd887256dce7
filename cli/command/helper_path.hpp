#pragma once

#include <string>

namespace coldtrace::cli {

// The path of a helper program, which is in libexec/coldtrace beside this program's bin; empty if
// it is not there. PATH is never searched.
std::string find_helper(const std::string& name);

}  // namespace coldtrace::cli
