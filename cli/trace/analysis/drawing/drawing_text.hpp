#pragma once

#include <string>
#include <string_view>

namespace coldtrace::cli {

// For the inside of a quoted Graphviz label.
std::string dot_text(std::string_view text);

// What fits in a box of a drawing: the first and last bytes of a text that is too long, since both
// ends of "module!function" and "thread 8 of name (4)" matter. The drawing has the whole text in a
// <title>.
std::string fitted(const std::string& text, std::size_t longest = 30);
// Keeps the last bytes: paths differ at their ends.
std::string fitted_path(const std::string& path, std::size_t longest = 30);

}  // namespace coldtrace::cli
