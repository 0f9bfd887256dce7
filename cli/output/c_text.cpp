#include "cli/output/c_text.hpp"

#include <fmt/format.h>

namespace coldtrace::cli {

std::string c_identifier(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    safe += plain ? c : '_';
  }
  return safe;
}

std::string c_string(std::string_view text) {
  std::string literal{'"'};
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7e) {
      literal += fmt::format("\\{:03o}", byte);  // three digits: one that follows is its own
      continue;
    }
    if (c == '"' || c == '\\') literal += '\\';
    // Keeps "??x" from being a trigraph.
    if (c == '?') literal += '\\';
    literal += c;
  }
  return literal += '"';
}

std::string c_comment(std::string text) {
  for (std::size_t at = 0; (at = text.find("*/", at)) != std::string::npos;) text[at] = '+';
  return text;
}

}  // namespace coldtrace::cli
