#pragma once

#include <string_view>

#include "coldtrace/core/integers.hpp"

namespace coldtrace {

// In `insensitive` the ASCII letters are alike, as in file names and module names; function names
// of exports and imports are `sensitive`.
enum class GlobCase : u8 { sensitive, insensitive };

// '*' is any run of bytes, also none, '?' any one byte; everything else is itself. The whole text
// must match. At most pattern size times text size steps.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view text,
                                GlobCase glob_case) noexcept;

// Whether a '*' or a '?' is in it.
[[nodiscard]] bool is_glob(std::string_view text) noexcept;

}  // namespace coldtrace
