#pragma once

#include <span>
#include <string_view>

namespace coldtrace::cli {

// The files of report/, as the build joins them: the style, and the pieces of the script, in order.
std::string_view page_style();
std::span<const std::string_view> page_script();

}  // namespace coldtrace::cli
