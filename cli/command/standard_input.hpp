#pragma once

#include <string>

namespace coldtrace::cli {

// Where a file lies that is named on the command line and read once, from its start to its end: "-"
// is standard input.
inline std::string readable_path(const std::string& path) {
  return path == "-" ? "/dev/stdin" : path;
}

}  // namespace coldtrace::cli
