#pragma once

#include <string>

namespace coldtrace::cli {

// What a column of `width` columns of a terminal, 4 at least, has room for: all of a UTF-8 text, or
// "..." and the last characters of it (of a path the name of the file, of a process its id), or the
// first ones and "...". Wide characters count twice.
std::string end_of(const std::string& text, std::size_t width);
std::string start_of(const std::string& text, std::size_t width);

}  // namespace coldtrace::cli
