#include "cli/output/text.hpp"

#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {

std::string csv_field(std::string_view bytes) {
  auto text = core::to_valid_utf8(bytes);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted{'"'};
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted += '"';
}

}  // namespace coldtrace::cli
