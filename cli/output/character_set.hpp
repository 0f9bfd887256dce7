#pragma once

namespace coldtrace::cli {

// Whether characters beyond ASCII can be shown: not if the locale names a character set other than
// UTF-8, or is C or POSIX. Names are written as UTF-8 in any case.
bool is_locale_utf8();

}  // namespace coldtrace::cli
