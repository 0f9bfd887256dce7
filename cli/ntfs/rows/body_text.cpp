#include "cli/ntfs/rows/body_text.hpp"

#include <string_view>

#include "coldtrace/core/printable.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {
namespace {

// Whether one of the eight characters may be special; bytes above 0x7f may hide one.
// Source: Sean Eron Anderson, "Bit Twiddling Hacks", hasless() and haszero().
bool may_be_special(u64 eight) {
  constexpr u64 ones = 0x0101'0101'0101'0101;
  constexpr u64 tops = ones * 0x80;
  const auto zero = [](u64 value) { return (value - ones) & ~value; };
  return ((eight | (eight - ones * 0x20) | zero(eight ^ ones * 0x7f) | zero(eight ^ ones * '|') |
           zero(eight ^ ones * '\\')) &
          tops) != 0;
}

}  // namespace

void escape_body_text(std::string& text, std::size_t start) {
  std::size_t at = start;
  for (; text.size() - at >= 8; at += 8) {
    u64 eight = 0;
    std::memcpy(&eight, text.data() + at, 8);
    if (may_be_special(eight)) break;
  }
  if (at == text.size()) return;
  const std::string end = text.substr(at);
  text.resize(at);
  for (std::string_view rest = end; !rest.empty();) {
    const auto character = core::first_character(rest);
    if (character == "|" || character == "\\" || core::is_unprintable(character))
      core::append_escaped(text, character);
    else
      text += character;
    rest.remove_prefix(character.size());
  }
}

}  // namespace coldtrace::cli
