#pragma once

#include <string>
#include <string_view>

namespace coldtrace::cli {

// The text as a C identifier; characters that are not allowed become '_'.
std::string c_identifier(std::string_view text);

// A C89 string literal with the bytes of `text`, without trigraphs; those that are not printable
// ASCII become octal escapes.
std::string c_string(std::string_view text);

// Text for a comment, which it cannot end.
std::string c_comment(std::string text);

}  // namespace coldtrace::cli
