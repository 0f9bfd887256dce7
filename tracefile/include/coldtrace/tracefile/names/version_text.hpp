#pragma once

#include <array>
#include <optional>
#include <string>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::tracefile {

// "10.0.19045" of the version of Windows, or "6.1.7601.17514" of that of an image, as headers of
// traces have them, major first; nothing of zeros, with which they state none.
[[nodiscard]] std::optional<std::string> find_version_text(const std::array<u32, 3>& version);
[[nodiscard]] std::optional<std::string> find_version_text(const std::array<u16, 4>& version);

}  // namespace coldtrace::tracefile
