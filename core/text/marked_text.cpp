#include "coldtrace/core/marked_text.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"

namespace coldtrace::core {
namespace {

void note_invalid(MarkedText& text, u64 offset) {
  if (text.invalid++ == 0) text.first_invalid = offset;
}

}  // namespace

u64 MarkedText::offset_of(std::size_t at) const {
  if (unit == 0) return mark + at;
  u64 units = 0;
  for (const char c : std::string_view{utf8}.substr(0, at)) {
    const auto byte = static_cast<u8>(c);
    if ((byte & 0xc0) != 0x80) units += byte >= 0xf0 && unit == 2 ? 2 : 1;
  }
  return mark + units * unit;
}

MarkedText decode_utf8_text(ByteView bytes, u64 mark) {
  const auto chars = to_chars(bytes).substr(mark);
  MarkedText text{.utf8 = std::string{chars}, .mark = mark};
  if (is_valid_utf8(chars)) return text;
  constexpr u64 longer = 2;  // U+FFFD than the byte for which it stands
  const auto valid = to_valid_utf8(chars);
  text.invalid = (valid.size() - chars.size()) / longer;
  // The byte itself may be as U+FFFD begins.
  const auto differs = std::ranges::mismatch(chars, valid).in1 - chars.begin();
  text.first_invalid = mark + valid.rfind("\xef\xbf\xbd", static_cast<std::size_t>(differs));
  return text;
}

MarkedText decode_utf16_text(ByteView bytes, ByteOrder order, u64 mark) {
  const auto stored = bytes.subspan(mark);
  std::vector<std::byte> units(stored.begin(), stored.end());
  if (order == ByteOrder::big)
    for (std::size_t i = 0; i + 1 < units.size(); i += 2) std::swap(units[i], units[i + 1]);
  MarkedText text{.utf8 = decode_utf16(units).utf8, .mark = mark, .unit = 2};
  const auto surrogate = [&](std::size_t at) {
    return at + 1 < units.size() ? std::to_integer<unsigned>(units[at + 1]) & 0xfcU : 0;
  };
  constexpr unsigned high = 0xd8, low = 0xdc;
  for (std::size_t at = 0; at < units.size(); at += 2) {
    if (surrogate(at) == high && surrogate(at + 2) == low)
      at += 2;
    else if (surrogate(at) == high || surrogate(at) == low || at + 1 == units.size())
      note_invalid(text, mark + at);
  }
  return text;
}

MarkedText decode_marked_text(ByteView bytes) {
  const auto chars = to_chars(bytes);
  if (chars.starts_with("\xff\xfe")) return decode_utf16_text(bytes, ByteOrder::little, 2);
  if (chars.starts_with("\xfe\xff")) return decode_utf16_text(bytes, ByteOrder::big, 2);
  return decode_utf8_text(bytes, chars.starts_with("\xef\xbb\xbf") ? 3 : 0);
}

std::string describe_invalid(const MarkedText& text) {
  const bool is_utf8 = text.unit == 0;
  return fmt::format(
      "{} of the text {} not valid {}: U+FFFD stands for {}",
      is_utf8 ? counted(text.invalid, "byte", "bytes") : counted(text.invalid, "unit", "units"),
      text.invalid == 1 ? "is" : "are", is_utf8 ? "UTF-8" : "UTF-16",
      text.invalid == 1 ? "it" : "each");
}

}  // namespace coldtrace::core
