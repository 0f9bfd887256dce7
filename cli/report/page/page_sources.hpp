#pragma once

#include <span>
#include <string_view>

namespace coldtrace::cli {

// The files of report/, as joined by the build: the style, and the script in pieces to be
// concatenated.
std::string_view page_style();
std::span<const std::string_view> page_script();

}  // namespace coldtrace::cli
