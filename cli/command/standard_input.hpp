#pragma once

#include <string>

namespace coldtrace::cli {

// The path of a file that is named on the command line and read once, from start to end: "-" is
// standard input.
inline std::string readable_path(const std::string& path) {
  return path == "-" ? "/dev/stdin" : path;
}

}  // namespace coldtrace::cli
