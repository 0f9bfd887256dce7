#include "cli/trace/analysis/drawing/drawing_text.hpp"

namespace coldtrace::cli {
namespace {

bool goes_on(char character) {
  return (static_cast<unsigned char>(character) & 0xc0U) == 0x80;
}

// Where to cut a longer text, so that at most `size` bytes stay and no character of UTF-8 is cut.
std::size_t end_of_front(std::string_view text, std::size_t size) {
  while (size > 0 && goes_on(text[size])) --size;
  return size;
}

std::size_t begin_of_end(std::string_view text, std::size_t size) {
  std::size_t begin = text.size() - size;
  while (begin < text.size() && goes_on(text[begin])) ++begin;
  return begin;
}

}  // namespace

// Graphviz decodes the entities of HTML in quoted labels and tooltips too. Source: Graphviz, "The
// DOT Language", "Character encodings"; observed on dot 2.43.
std::string dot_text(std::string_view text) {
  std::string escaped;
  for (const char character : text) {
    if (character == '"' || character == '\\') escaped += '\\';
    escaped += character;
    if (character == '&') escaped += "amp;";
  }
  return escaped;
}

std::string fitted(const std::string& text, std::size_t longest) {
  return text.size() <= longest ? text
                                : text.substr(0, end_of_front(text, longest / 2)) + "…" +
                                      text.substr(begin_of_end(text, (longest - 1) / 2));
}

std::string fitted_path(const std::string& path, std::size_t longest) {
  return path.size() <= longest ? path : "…" + path.substr(begin_of_end(path, longest - 1));
}

}  // namespace coldtrace::cli
