#include "cli/json_text.hpp"

#include <array>
#include <bit>

#include "core/text.hpp"
#include "core/utf16.hpp"

namespace coldtrace::cli {
namespace {

// A character of at most six: "\u001b".
constexpr std::size_t longest_escape = 6;

// Per ASCII character: 0 as it is, 'u' as \u00XX, else the letter behind a backslash.
constexpr auto escapes = [] {
  std::array<char, 128> table{};
  for (std::size_t i = 0; i < 0x20; ++i) table[i] = 'u';
  table['\b'] = 'b';
  table['\f'] = 'f';
  table['\n'] = 'n';
  table['\r'] = 'r';
  table['\t'] = 't';
  table['"'] = '"';
  table['\\'] = '\\';
  return table;
}();

char* write_escaped(char* at, unsigned char c) {
  const char escape = escapes[c];
  if (escape == 0) {
    *at++ = static_cast<char>(c);
    return at;
  }
  *at++ = '\\';
  *at++ = escape;
  if (escape != 'u') return at;
  constexpr char digits[] = "0123456789ABCDEF";
  *at++ = '0';
  *at++ = '0';
  *at++ = digits[c >> 4U];
  *at++ = digits[c & 0xfU];
  return at;
}

// Bits that are set where one of eight characters is a control character, a quote, a backslash or
// not ASCII. The lowest is right; those above it may be wrong.
// Source: Sean Eron Anderson, "Bit Twiddling Hacks", hasless() and haszero().
u64 find_special(u64 eight) {
  constexpr u64 ones = 0x0101'0101'0101'0101;
  constexpr u64 tops = ones * 0x80;
  const auto zero = [](u64 value) { return (value - ones) & ~value; };
  return (eight | ((eight - ones * 0x20) & ~eight) | zero(eight ^ ones * '"') |
          zero(eight ^ ones * '\\')) &
         tops;
}

// Writes ASCII with its escapes; returns how many characters that was.
std::size_t append_ascii(core::TextBuffer& json, std::string_view text) {
  char* const start = json.reserve(text.size() * longest_escape + 2);
  char* at = start;
  std::size_t i = 0;
  while (i < text.size()) {
    u64 eight = 0;
    if (text.size() - i >= sizeof(eight)) {
      std::memcpy(&eight, text.data() + i, sizeof(eight));
      const auto special = find_special(eight);
      const auto plain = static_cast<std::size_t>(std::countr_zero(special)) / 8;
      std::memcpy(at, &eight, sizeof(eight));
      at += plain;
      i += plain;
      if (special == 0) continue;
    }
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x80) break;
    at = write_escaped(at, c);
    ++i;
  }
  json.commit(static_cast<std::size_t>(at - start));
  return i;
}

// Valid UTF-8: only ASCII needs escapes.
void append_utf8(core::TextBuffer& json, std::string_view text) {
  char* const start = json.reserve(text.size() * longest_escape + 2);
  char* at = start;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80)
      at = write_escaped(at, byte);
    else
      *at++ = c;
  }
  json.commit(static_cast<std::size_t>(at - start));
}

}  // namespace

bool append_json_text(core::TextBuffer& json, std::string_view text) {
  json.append('"');
  const auto ascii = append_ascii(json, text);
  bool valid = true;
  if (ascii < text.size()) {
    const auto rest = text.substr(ascii);
    valid = core::is_valid_utf8(rest);
    if (valid)
      append_utf8(json, rest);
    else
      append_utf8(json, core::to_valid_utf8(rest));
  }
  json.append('"');
  return valid;
}

bool append_json_utf16(core::TextBuffer& json, core::ByteView units) {
  const auto count = units.size() / 2;
  char* const start = json.reserve(count * longest_escape + 2);
  char* at = start;
  *at++ = '"';
  std::size_t i = 0;
  for (; i < count; ++i) {
    u16 unit;
    std::memcpy(&unit, units.data() + i * 2, sizeof(unit));
    if (unit >= 0x80) break;
    at = write_escaped(at, static_cast<unsigned char>(unit));
  }
  json.commit(static_cast<std::size_t>(at - start));
  bool valid = true;
  if (i < count) {
    const auto rest = core::decode_utf16(units.subspan(i * 2));
    valid = rest.valid;
    append_utf8(json, rest.utf8);
  }
  json.append('"');
  return valid;
}

}  // namespace coldtrace::cli
