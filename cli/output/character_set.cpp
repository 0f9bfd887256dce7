#include "cli/output/character_set.hpp"

#include <cstdlib>
#include <string_view>

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

}  // namespace coldtrace::cli
