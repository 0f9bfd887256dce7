#pragma once

#include <string>
#include <string_view>

namespace coldtrace::cli {

// Inside the quotes of a label of Graphviz.
std::string dot_text(std::string_view text);

// Between tags and inside the quotes of attributes.
std::string xml_text(std::string_view text);

// What a box of a drawing has room for: the first and last bytes of a text that is too long, since
// "module!function" and "thread 8 of name (4)" are told apart by both ends. The drawing has all of
// it in a <title>.
std::string fitted(const std::string& text, std::size_t longest = 30);
// The last ones: what tells one path from another is at its end.
std::string fitted_path(const std::string& path, std::size_t longest = 30);

}  // namespace coldtrace::cli
