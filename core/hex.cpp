#include "core/hex.hpp"

namespace coldtrace::core {

void append_hex(std::string& text, ByteView bytes) {
  constexpr char digits[] = "0123456789abcdef";
  const auto start = text.size();
  text.resize(start + bytes.size() * 2);
  char* to = text.data() + start;
  for (const auto byte : bytes) {
    *to++ = digits[std::to_integer<unsigned>(byte) >> 4];
    *to++ = digits[std::to_integer<unsigned>(byte) & 15];
  }
}

std::string to_hex(ByteView bytes) {
  std::string text;
  append_hex(text, bytes);
  return text;
}

}  // namespace coldtrace::core
