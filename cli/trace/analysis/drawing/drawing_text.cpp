#include "cli/trace/analysis/drawing/drawing_text.hpp"

namespace coldtrace::cli {
namespace {

bool goes_on(char character) {
  return (static_cast<unsigned char>(character) & 0xc0U) == 0x80;
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

std::string xml_text(std::string_view text) {
  std::string escaped;
  for (const char character : text) {
    if (character == '<')
      escaped += "&lt;";
    else if (character == '>')
      escaped += "&gt;";
    else if (character == '&')
      escaped += "&amp;";
    else if (character == '"')
      escaped += "&quot;";
    else
      escaped += character;
  }
  // XML has no U+FFFE and no U+FFFF.
  for (const std::string_view noncharacter : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
    for (auto at = escaped.find(noncharacter); at != std::string::npos;
         at = escaped.find(noncharacter, at))
      escaped.replace(at, noncharacter.size(), "\xef\xbf\xbd");
  return escaped;
}

// UTF-8 is not cut inside a character.
std::string fitted(const std::string& text, std::size_t longest) {
  if (text.size() <= longest) return text;
  std::size_t end = longest - 1;
  while (end > 0 && goes_on(text[end])) --end;
  return text.substr(0, end) + "…";
}

std::string fitted_path(const std::string& path, std::size_t longest) {
  if (path.size() <= longest) return path;
  std::size_t begin = path.size() - (longest - 1);
  while (begin < path.size() && goes_on(path[begin])) ++begin;
  return "…" + path.substr(begin);
}

}  // namespace coldtrace::cli
