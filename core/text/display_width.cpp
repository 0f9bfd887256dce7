#include "coldtrace/core/display_width.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

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

// How many bytes of the front have room, and the columns that they take.
std::pair<std::size_t, std::size_t> measure(std::string_view text, std::size_t most) {
  std::size_t bytes = 0, columns = 0;
  while (bytes < text.size()) {
    const auto character = first_character(text.substr(bytes));
    const auto width = columns_of(character);
    if (width > most - columns) break;
    columns += width;
    bytes += character.size();
  }
  return {bytes, columns};
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return measure(text, static_cast<std::size_t>(-1)).second;
}

std::string_view fitting_front(std::string_view text, std::size_t columns) {
  return text.substr(0, measure(text, columns).first);
}

std::string_view fitting_end(std::string_view text, std::size_t columns) {
  for (auto width = display_width(text); width > columns;) {
    const auto character = first_character(text);
    width -= columns_of(character);
    text.remove_prefix(character.size());
  }
  return text;
}

}  // namespace coldtrace::core
