#include "cli/trace/lines/trace_text.hpp"

#include <algorithm>
#include <array>

namespace coldtrace::cli {

void append_guid(core::TextBuffer& text, core::ByteView bytes) {
  constexpr std::size_t size = 36;
  constexpr char digits[] = "0123456789abcdef";
  // Where in the text each byte has its two digits; the first three parts are little-endian.
  constexpr std::array<u8, 16> places = {6, 4, 2, 0, 11, 9, 16, 14, 19, 21, 24, 26, 28, 30, 32, 34};
  char* const at = text.reserve(size);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto byte = std::to_integer<unsigned>(bytes[i]);
    at[places[i]] = digits[byte >> 4];
    at[places[i] + 1] = digits[byte & 0xfU];
  }
  for (const auto dash : {8, 13, 18, 23}) at[dash] = '-';
  text.commit(size);
}

}  // namespace coldtrace::cli
