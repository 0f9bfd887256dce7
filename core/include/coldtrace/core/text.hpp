#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::core {

// The bytes as one-byte characters.
[[nodiscard]] inline std::string_view to_chars(ByteView bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the one place for it
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
template <TemporaryBytes T>
std::string_view to_chars(T&&) = delete;

// The characters before the first NUL; nothing if there is none in the first `limit` + 1 bytes.
[[nodiscard]] inline std::optional<std::string_view> read_c_string(ByteView bytes,
                                                                   std::size_t limit) {
  const auto searched = bytes.size() > limit ? bytes.first(limit + 1) : bytes;
  if (searched.empty()) return std::nullopt;
  const auto* const end = std::memchr(searched.data(), 0, searched.size());
  if (!end) return std::nullopt;
  const auto chars = to_chars(searched);
  return chars.substr(0, static_cast<std::size_t>(static_cast<const char*>(end) - chars.data()));
}
template <TemporaryBytes T>
std::optional<std::string_view> read_c_string(T&&, std::size_t) = delete;

// C0 and DEL. Bytes of multi-byte characters are not, whether char is signed or not.
[[nodiscard]] constexpr bool is_control(char c) {
  return static_cast<unsigned char>(c) < ' ' || c == 0x7f;
}

// By RFC 3629: no surrogates, no overlong forms, nothing beyond U+10FFFF.
[[nodiscard]] bool is_valid_utf8(std::string_view text);

// The text with every byte that is not part of valid UTF-8 replaced by U+FFFD.
[[nodiscard]] std::string to_valid_utf8(std::string_view text);

// "1 stack is", "2 stacks are": so many things, and as much of the sentence as that changes.
[[nodiscard]] std::string counted(u64 count, std::string_view one, std::string_view several);

}  // namespace coldtrace::core
