#pragma once

#include <string>
#include <string_view>

namespace coldtrace::core {

// ASCII letters only, whatever the locale; other bytes stay as they are.
[[nodiscard]] constexpr char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
[[nodiscard]] constexpr char to_upper(char c) noexcept {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}
[[nodiscard]] std::string to_lower(std::string_view text);
[[nodiscard]] bool equal_ignoring_case(std::string_view one, std::string_view other) noexcept;

}  // namespace coldtrace::core
