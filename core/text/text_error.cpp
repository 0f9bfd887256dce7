#include "coldtrace/core/text_error.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace coldtrace::core {

std::string to_string(const TextError& error) {
  return fmt::format("{}:{}: {}", error.line, error.column, error.message);
}

TextError error_at(std::string_view text, const char* place, std::string message) {
  const auto offset = std::min(static_cast<std::size_t>(place - text.data()), text.size());
  const auto before = text.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n');
  const auto start = before.rfind('\n');
  const auto column = start == std::string_view::npos ? offset : offset - start - 1;
  return {static_cast<u32>(line) + 1, static_cast<u32>(column) + 1, std::move(message)};
}

}  // namespace coldtrace::core
