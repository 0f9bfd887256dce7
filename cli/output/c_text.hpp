#pragma once

#include <string>
#include <string_view>

namespace coldtrace::cli {

// What may stand in a C identifier of `text`; other characters become '_'.
std::string c_identifier(std::string_view text);

// A string literal of C89 with the bytes of `text`; those that are not of ASCII or do not print as
// octal escapes. Without trigraphs.
std::string c_string(std::string_view text);

// Text of a comment, which cannot end it.
std::string c_comment(std::string text);

}  // namespace coldtrace::cli
