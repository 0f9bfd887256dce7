#include "cli/output/character_set.hpp"

#include <cstdlib>

#include "coldtrace/core/display_width.hpp"

namespace coldtrace::cli {

bool is_locale_utf8() {
  for (const auto* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const auto* const value = std::getenv(name);
    const std::string_view locale{value != nullptr ? value : ""};
    if (locale.empty()) continue;
    const auto dot = locale.find('.');
    if (dot == locale.npos) return locale != "C" && locale != "POSIX";
    const auto set = locale.substr(dot + 1, locale.find('@', dot) - dot - 1);
    return set == "UTF-8" || set == "utf8" || set == "utf-8" || set == "UTF8";
  }
  return true;
}

std::string_view ellipsis() {
  static const bool is_utf8 = is_locale_utf8();
  return is_utf8 ? "…" : ">";
}

std::string without_front(const std::string& text, std::size_t columns) {
  if (core::display_width(text) <= columns || columns < 2) return text;
  return std::string{ellipsis()}.append(core::fitting_end(text, columns - 1));
}

std::string without_middle(const std::string& text, std::size_t columns) {
  if (core::display_width(text) <= columns || columns < 2) return text;
  const auto front = (columns - 1) / 3;
  return std::string{core::fitting_front(text, front)}
      .append(ellipsis())
      .append(core::fitting_end(text, columns - 1 - front));
}

}  // namespace coldtrace::cli
