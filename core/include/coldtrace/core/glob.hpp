#pragma once

#include <string_view>

#include "coldtrace/core/integers.hpp"

namespace coldtrace {

// `insensitive` ignores the case of ASCII letters, as in names of files and modules; names of
// exported and imported functions are `sensitive`.
enum class GlobCase : u8 { sensitive, insensitive };

// '*' matches any run of bytes, also an empty one, '?' any single byte, everything else itself. The
// whole text must match. Takes at most pattern size times text size steps.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view text,
                                GlobCase glob_case) noexcept;

// Whether the text contains a '*' or a '?'.
[[nodiscard]] bool is_glob(std::string_view text) noexcept;

}  // namespace coldtrace
