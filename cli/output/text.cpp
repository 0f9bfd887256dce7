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

std::string size_text(u64 bytes) {
  constexpr u64 kib = 1024;
  for (const auto& [unit, name] :
       {std::pair{kib * kib * kib, "GiB"}, std::pair{kib * kib, "MiB"}, std::pair{kib, "KiB"}})
    if (bytes >= unit)
      return fmt::format("{:.1f} {}", static_cast<double>(bytes) / static_cast<double>(unit), name);
  return fmt::format("{} bytes", bytes);
}

}  // namespace coldtrace::cli
