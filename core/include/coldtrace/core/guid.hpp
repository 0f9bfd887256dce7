#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::core {

// 16 bytes as stored: the first three groups are little-endian, the last two are bytes.
// Source: Windows SDK, GUID.
struct Guid {
  static constexpr std::size_t size_on_disk = 16;
  std::array<std::byte, size_on_disk> bytes{};
  friend auto operator<=>(const Guid&, const Guid&) = default;
};

// The GUID at the start of `bytes`; zeros stand for what lies beyond their end.
[[nodiscard]] Guid to_guid(ByteView bytes);

// The GUID of 36 characters "01234567-89ab-cdef-0123-456789abcdef", in either case, or nothing.
[[nodiscard]] constexpr std::optional<Guid> parse_guid(std::string_view text) {
  // Where the two digits of each stored byte are.
  constexpr std::size_t places[] = {6, 4, 2, 0, 11, 9, 16, 14, 19, 21, 24, 26, 28, 30, 32, 34};
  if (text.size() != 36) return std::nullopt;
  for (const auto dash : {8U, 13U, 18U, 23U})
    if (text[dash] != '-') return std::nullopt;
  const auto digit = [](char c) -> unsigned {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? static_cast<unsigned>(lower - 'a' + 10) : 16U;
  };
  Guid guid;
  for (std::size_t i = 0; i < Guid::size_on_disk; ++i) {
    const unsigned high = digit(text[places[i]]);
    const unsigned low = digit(text[places[i] + 1]);
    if (high > 15 || low > 15) return std::nullopt;
    guid.bytes[i] = static_cast<std::byte>(high << 4 | low);
  }
  return guid;
}

// "01234567-89ab-cdef-0123-456789abcdef", without braces.
[[nodiscard]] std::string to_string(const Guid& guid);

}  // namespace coldtrace::core
