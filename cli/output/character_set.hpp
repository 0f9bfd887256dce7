#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace coldtrace::cli {

// Whether characters beyond ASCII can be shown: not if the locale names a character set other than
// UTF-8, or is C or POSIX. Names are written as UTF-8 in any case.
bool is_locale_utf8();

// Stands for the rest of a line or word that is cut; one column wide.
std::string_view ellipsis();

// A name in so many columns: if it is wider, without its front, where the end tells most, or
// without its middle.
std::string without_front(const std::string& text, std::size_t columns);
std::string without_middle(const std::string& text, std::size_t columns);

}  // namespace coldtrace::cli
