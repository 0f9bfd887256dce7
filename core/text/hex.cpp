#include "coldtrace/core/hex.hpp"

namespace coldtrace::core {

char* write_hex(char* at, ByteView bytes) {
  constexpr char digits[] = "0123456789abcdef";
  for (const auto byte : bytes) {
    *at++ = digits[std::to_integer<unsigned>(byte) >> 4];
    *at++ = digits[std::to_integer<unsigned>(byte) & 15];
  }
  return at;
}

void append_hex(std::string& text, ByteView bytes) {
  const auto start = text.size();
  text.resize(start + bytes.size() * 2);
  write_hex(text.data() + start, bytes);
}

std::string to_hex(ByteView bytes) {
  std::string text;
  append_hex(text, bytes);
  return text;
}

std::optional<std::vector<std::byte>> parse_hex(std::string_view digits) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  if (digits.size() % 2 != 0) return std::nullopt;
  std::vector<std::byte> bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = digit(digits[i]);
    const int low = digit(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<std::byte>(high << 4 | low));
  }
  return bytes;
}

}  // namespace coldtrace::core
