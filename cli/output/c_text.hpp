#pragma once

#include <string>
#include <string_view>

namespace coldtrace::cli {

// The characters of `text` that a C identifier may have; others become '_'.
std::string c_identifier(std::string_view text);

// A C89 string literal with the bytes of `text`; bytes that are not printable ASCII become octal
// escapes. Without trigraphs.
std::string c_string(std::string_view text);

// Text for a comment, which cannot end the comment.
std::string c_comment(std::string text);

}  // namespace coldtrace::cli
