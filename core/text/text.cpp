#include "coldtrace/core/text.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace coldtrace::core {
namespace {

// The bytes of the well-formed sequence at the start of `text`; 0 when there is none.
// Source: The Unicode Standard, table 3-7, "Well-Formed UTF-8 Byte Sequences".
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<u8>(text[i]); };
  const auto follows = [&](std::size_t i, u8 low = 0x80, u8 high = 0xbf) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const u8 lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const u8 low = lead == 0xe0 ? 0xa0 : 0x80;
    const u8 high = lead == 0xed ? 0x9f : 0xbf;
    return follows(1, low, high) && follows(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const u8 low = lead == 0xf0 ? 0x90 : 0x80;
    const u8 high = lead == 0xf4 ? 0x8f : 0xbf;
    return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

bool is_ascii(std::string_view text) {
  std::size_t at = 0;
  for (; text.size() - at >= 8; at += 8) {
    u64 eight;
    std::memcpy(&eight, text.data() + at, 8);
    if (eight & 0x8080'8080'8080'8080) return false;
  }
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(),
                     [](char c) { return static_cast<u8>(c) < 0x80; });
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  if (is_ascii(text)) return true;
  while (!text.empty()) {
    const auto length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string to_valid_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const auto length = sequence_length(text);
    valid += length == 0 ? std::string_view{"\xef\xbf\xbd"} : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return valid;
}

std::string counted(u64 count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

}  // namespace coldtrace::core
