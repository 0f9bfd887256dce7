#include "cli/ntfs/rows/body_text.hpp"

#include <string_view>

#include "coldtrace/core/printable.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {
namespace {

// Whether it may be escaped; what is not ASCII is looked at as a whole.
bool may_be_special(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte >= 0x7f || c == '|' || c == '\\';
}

}  // namespace

void escape_body_text(std::string& text, std::size_t start) {
  std::size_t at = start;
  while (at < text.size() && !may_be_special(text[at])) ++at;
  if (at == text.size()) return;
  const std::string end = text.substr(at);
  text.resize(at);
  for (std::string_view rest = end; !rest.empty();) {
    const auto character = core::first_character(rest);
    if (character == "|" || character == "\\" || core::is_unprintable(character))
      core::append_escaped(text, character);
    else
      text += character;
    rest.remove_prefix(character.size());
  }
}

}  // namespace coldtrace::cli
