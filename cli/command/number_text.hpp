#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::cli {

// A number as people write it: decimal, or hexadecimal after "0x".
inline std::optional<u64> parse_number(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  u64 number = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, hexadecimal ? 16 : 10);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return number;
}

}  // namespace coldtrace::cli
