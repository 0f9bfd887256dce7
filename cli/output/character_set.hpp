#pragma once

#include <string_view>

namespace coldtrace::cli {

// Whether the locale's character set has what no ASCII text has. Names of another set than UTF-8,
// and the locales C and POSIX, have not; names are written as UTF-8 in any case.
bool is_locale_utf8();

// What stands for the rest of a line or word that is cut: one column.
std::string_view ellipsis();

}  // namespace coldtrace::cli
