#include "cli/trace/analysis/top/page_text.hpp"

#include <algorithm>

namespace coldtrace::cli {
namespace {

constexpr std::string_view dots = "...";

bool starts_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80;
}

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

// Where the character of that number begins.
std::size_t place_of(const std::string& text, std::size_t number) {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if (starts_character(text[at]) && number-- == 0) break;
  return at;
}

}  // namespace

std::string end_of(const std::string& text, std::size_t width) {
  const auto length = characters(text);
  if (length <= width) return text;
  return std::string{dots} + text.substr(place_of(text, length - (width - dots.size())));
}

std::string start_of(const std::string& text, std::size_t width) {
  if (characters(text) <= width) return text;
  return text.substr(0, place_of(text, width - dots.size())) + std::string{dots};
}

}  // namespace coldtrace::cli
