#pragma once

#include <string_view>

namespace coldtrace::cli {

// Whether the locale's character set is UTF-8, so that non-ASCII characters can be drawn. False for
// the locales C and POSIX. Names are written as UTF-8 in any case.
bool is_locale_utf8();

// What replaces the rest of a line or word that is cut: one column wide.
std::string_view ellipsis();

}  // namespace coldtrace::cli
