#include "cli/output/where_error.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/output/messages.hpp"
#include "coldtrace/core/printable.hpp"

namespace coldtrace::cli {

void say_where_error(std::string_view option, std::string_view text, const core::TextError& error) {
  for (u32 line = 1; line < error.line; ++line) text.remove_prefix(text.find('\n') + 1);
  text = text.substr(0, text.find('\n'));
  // As it is printed, so that the caret stands below.
  const auto before = core::printable(text.substr(0, error.column - 1));
  const auto width = std::count_if(before.begin(), before.end(),
                                   [](char c) { return (static_cast<u8>(c) & 0xc0U) != 0x80; });
  say(fmt::format("coldtrace: {}: {}:{}: {}\n  {}\n  {:>{}}\n", option, error.line, error.column,
                  core::printable(error.message), core::printable(text), '^', width + 1));
}

}  // namespace coldtrace::cli
