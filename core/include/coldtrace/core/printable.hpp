#pragma once

#include <string>
#include <string_view>

#include "coldtrace/core/borrowed.hpp"

namespace coldtrace::core {

// Text of a file made safe for a terminal and for one line: control characters, characters that are
// invisible or reorder others, and bytes that are not UTF-8 are escaped as \x1b, \u202e or
// \U000e0001, unpaired surrogates of exact text (utf16.hpp) as \ud800. A backslash stays single, so
// that paths are readable; it is doubled only right before an escape, or before letters that would
// be read as one.
[[nodiscard]] std::string printable(std::string_view text);

// Exact text where there is no place for its units, as in sentences and tables of other programs:
// as it is, or as printable() has it where that escapes an unpaired surrogate, or what would read
// as one.
[[nodiscard]] std::string distinct_text(std::string_view exact);

// The first character of `text`, which is valid UTF-8 and not empty.
[[nodiscard]] std::string_view first_character(std::string_view text);
template <TemporaryText T>
std::string_view first_character(T&&) = delete;

// The code point of a character that first_character() gave.
[[nodiscard]] char32_t code_point(std::string_view character);

// Whether printable() escapes it as a control or an invisible character.
[[nodiscard]] bool is_unprintable(std::string_view character);

// Appends a character as \x1b, \u202e or \U000e0001.
void append_escaped(std::string& escaped, std::string_view character);

}  // namespace coldtrace::core
