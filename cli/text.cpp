#include "cli/text.hpp"

#include "core/integers.hpp"
#include "core/text.hpp"

namespace coldtrace::cli {

std::string printable(std::string_view text) {
  const bool valid = core::is_valid_utf8(text);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<u8>(c);
    if (c == '\n') {
      safe += "\\n";
    } else if (c == '\t') {
      safe += "\\t";
    } else if (c == '\\') {
      safe += "\\\\";
    } else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !valid)) {
      safe += fmt::format("\\x{:02x}", byte);
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string{text};
  std::string quoted{'"'};
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted += '"';
}

}  // namespace coldtrace::cli
