#include "coldtrace/core/glob.hpp"

#include "coldtrace/core/ascii.hpp"

namespace coldtrace {
namespace {

bool alike(char pattern, char text, GlobCase glob_case) {
  if (pattern == '?' || pattern == text) return true;
  return glob_case == GlobCase::insensitive && core::to_lower(pattern) == core::to_lower(text);
}

}  // namespace

// Only the last '*' is ever tried again: what an earlier one takes more of, the last one can take
// as well.
bool glob_matches(std::string_view pattern, std::string_view text, GlobCase glob_case) noexcept {
  std::size_t at = 0;
  std::size_t in_text = 0;
  auto after_star = std::string_view::npos;
  std::size_t taken_to = 0;
  while (in_text < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      after_star = ++at;
      taken_to = in_text;
    } else if (at < pattern.size() && alike(pattern[at], text[in_text], glob_case)) {
      ++at;
      ++in_text;
    } else if (after_star != std::string_view::npos) {
      at = after_star;
      in_text = ++taken_to;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

bool is_glob(std::string_view text) noexcept {
  return text.find_first_of("*?") != std::string_view::npos;
}

}  // namespace coldtrace
