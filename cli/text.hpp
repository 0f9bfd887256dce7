#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/output.hpp"

namespace coldtrace::cli {

// Text of a file made safe for a terminal and for one line: control characters and bytes that
// are not UTF-8 are shown as \n, \t, \\ and \x1b.
std::string printable(std::string_view text);

// One CSV field as RFC 4180 has it: quoted when it must be.
std::string csv_field(std::string_view text);

// Formats to the output.
template <class... Args>
void print(Output& output, fmt::format_string<Args...> text, Args&&... args) {
  output.write(fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace coldtrace::cli
