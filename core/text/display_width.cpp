#include "coldtrace/core/display_width.hpp"

#include <algorithm>
#include <iterator>

#include "coldtrace/core/integers.hpp"
#include "coldtrace/core/printable.hpp"

namespace coldtrace::core {
namespace {

struct WidthRange {
  char32_t first, last;
};

#include "core/text/display_width.inc"

template <std::size_t size>
bool has(const WidthRange (&ranges)[size], char32_t value) {
  const auto* const range =
      std::ranges::lower_bound(ranges, value, {}, [](const WidthRange& one) { return one.last; });
  return range != std::end(ranges) && range->first <= value;
}

std::size_t columns_of(std::string_view character) {
  const auto value = code_point(character);
  if (value < 0x300) return 1;
  if (has(no_columns, value)) return 0;
  return has(wide, value) ? 2 : 1;
}

struct Piece {
  std::size_t bytes, columns;
};

// How long an escape of printable() is that the text begins with; 0: none.
std::size_t escape_size(std::string_view text) {
  if (text.size() < 2 || text[0] != '\\') return 0;
  const std::size_t digits = text[1] == 'x' ? 2 : text[1] == 'u' ? 4 : text[1] == 'U' ? 8 : 0;
  if (digits == 0 || text.size() < 2 + digits) return 0;
  const bool is_escape =
      text.substr(2, digits).find_first_not_of("0123456789abcdefABCDEF") == text.npos;
  return is_escape ? 2 + digits : 0;
}

// What stays together at the beginning of `text`, which is not empty: an escape, or a character
// with those that are drawn over it.
Piece first_piece(std::string_view text) {
  if (const auto size = escape_size(text); size > 0) return {size, size};
  const auto first = first_character(text);
  Piece piece{first.size(), columns_of(first)};
  while (piece.bytes < text.size()) {
    const auto next = first_character(text.substr(piece.bytes));
    if (columns_of(next) > 0) break;
    piece.bytes += next.size();
  }
  return piece;
}

// How many bytes of the front have room, and the columns that they take.
Piece measure(std::string_view text, std::size_t most) {
  Piece front{0, 0};
  while (front.bytes < text.size()) {
    const auto piece = first_piece(text.substr(front.bytes));
    if (piece.columns > most - front.columns) break;
    front.columns += piece.columns;
    front.bytes += piece.bytes;
  }
  return front;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return measure(text, static_cast<std::size_t>(-1)).columns;
}

std::string_view fitting_front(std::string_view text, std::size_t columns) {
  return text.substr(0, measure(text, columns).bytes);
}

std::string_view fitting_end(std::string_view text, std::size_t columns) {
  for (auto width = display_width(text); width > columns;) {
    const auto piece = first_piece(text);
    width -= piece.columns;
    text.remove_prefix(piece.bytes);
  }
  return text;
}

}  // namespace coldtrace::core
