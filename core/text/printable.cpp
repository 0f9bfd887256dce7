#include "coldtrace/core/printable.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "coldtrace/core/integers.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"

namespace coldtrace::core {
namespace {

struct Range {
  char32_t first, last;
};

// Source: Unicode Character Database 15: what has the property Default_Ignorable_Code_Point, and of
// categories Cc, Cf, Zl and Zp what is above ASCII, without the signs of Cf that are visible.
constexpr Range unprintable[] = {
    {0x80, 0x9f},        // C1 controls; U+009B starts sequences as ESC [ does
    {0xad, 0xad},        // soft hyphen
    {0x34f, 0x34f},      // combining grapheme joiner
    {0x61c, 0x61c},      // Arabic letter mark
    {0x115f, 0x1160},    // Hangul fillers
    {0x17b4, 0x17b5},    // Khmer inherent vowels
    {0x180b, 0x180f},    // Mongolian variation selectors and vowel separator
    {0x200b, 0x200f},    // zero width, directional marks
    {0x2028, 0x202e},    // line and paragraph separators, bidirectional embeddings and overrides
    {0x2060, 0x206f},    // word joiner, invisible operators, bidirectional isolates
    {0x3164, 0x3164},    // Hangul filler
    {0xd800, 0xdfff},    // unpaired surrogates, which UTF-8 does not have
    {0xfe00, 0xfe0f},    // variation selectors
    {0xfeff, 0xfeff},    // zero width no-break space
    {0xffa0, 0xffa0},    // halfwidth Hangul filler
    {0xfff0, 0xfffb},    // reserved, interlinear annotation
    {0x13430, 0x1343f},  // Egyptian hieroglyph joiners and other controls
    {0x1bca0, 0x1bca3},  // shorthand format controls
    {0x1d173, 0x1d17a},  // musical format controls
    {0xe0000, 0xe0fff},  // tags, variation selectors, reserved
};

// Whether a backslash in front would make these letters an escape.
bool reads_as_escape(std::string_view text) {
  const std::size_t digits = text[0] == 'x' ? 2 : text[0] == 'u' ? 4 : text[0] == 'U' ? 8 : 0;
  return digits != 0 && text.size() > digits &&
         text.substr(1, digits).find_first_not_of("0123456789abcdefABCDEF") == text.npos;
}

// Whether nothing of a text is changed, as of nearly all.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~' && c != '\\'; });
}

}  // namespace

std::string_view first_character(std::string_view text) {
  const auto lead = static_cast<u8>(text[0]);
  return text.substr(0, lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4);
}

char32_t code_point(std::string_view character) {
  if (character.size() == 1) return static_cast<u8>(character[0]);
  char32_t value = static_cast<u8>(character[0]) & (0x7fU >> character.size());
  for (const char c : character.substr(1)) value = value << 6 | (static_cast<u8>(c) & 0x3fU);
  return value;
}

bool is_unprintable(std::string_view character) {
  const auto value = code_point(character);
  if (value < 0x80) return value < 0x20 || value == 0x7f;
  return std::any_of(std::begin(unprintable), std::end(unprintable), [&](const Range& range) {
    return range.first <= value && value <= range.last;
  });
}

void append_escaped(std::string& escaped, std::string_view character) {
  const auto value = static_cast<u32>(code_point(character));
  if (character.size() == 1)
    escaped += fmt::format("\\x{:02x}", value);
  else
    escaped += value > 0xffff ? fmt::format("\\U{:08x}", value) : fmt::format("\\u{:04x}", value);
}

std::string printable(std::string_view text) {
  if (is_plain(text)) return std::string{text};
  std::string safe;
  safe.reserve(text.size());
  const bool valid = is_valid_utf8(text) || is_valid_utf8(shown_text(text));
  std::size_t backslashes = 0;  // at the end of `safe`
  while (!text.empty()) {
    const bool foreign = !valid && static_cast<u8>(text.front()) >= 0x80;
    const auto character = foreign ? text.substr(0, 1) : first_character(text);
    const bool escaped = foreign || is_unprintable(character);
    if (escaped || reads_as_escape(text)) safe.append(backslashes, '\\');
    backslashes = character == "\\" ? backslashes + 1 : 0;
    if (escaped)
      append_escaped(safe, character);
    else
      safe += character;
    text.remove_prefix(character.size());
  }
  return safe;
}

std::string distinct_text(std::string_view exact) {
  constexpr std::string_view escape = "\\ud";
  // Most names: neither a surrogate nor what would read as one.
  if (exact.find('\xed') == exact.npos && exact.find(escape) == exact.npos)
    return std::string{exact};
  auto text = printable(exact);
  for (auto at = text.find(escape); at != text.npos; at = text.find(escape, at + 1)) {
    const auto digits = std::string_view{text}.substr(at + escape.size()).substr(0, 3);
    if (digits.size() == 3 && digits.front() >= '8' &&
        digits.find_first_not_of("0123456789abcdef") == digits.npos)
      return text;
  }
  return std::string{exact};
}

}  // namespace coldtrace::core
