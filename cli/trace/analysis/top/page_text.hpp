#pragma once

#include <string>

namespace coldtrace::cli {

// What fits in `width` columns of a terminal, at least 4: all of a UTF-8 text, or "..." and its
// last characters (the file name of a path, the id of a process), or the first ones and "...". Wide
// characters count twice.
std::string end_of(const std::string& text, std::size_t width);
std::string start_of(const std::string& text, std::size_t width);

}  // namespace coldtrace::cli
