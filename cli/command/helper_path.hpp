#pragma once

#include <string>

namespace coldtrace::cli {

// The path of a helper program, which lies in libexec/coldtrace beside this program's bin; empty
// when it is not there. Never looked for on PATH.
std::string find_helper(const std::string& name);

}  // namespace coldtrace::cli
