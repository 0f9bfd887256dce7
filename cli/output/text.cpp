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

std::string grouped(u64 number) {
  auto text = fmt::format("{}", number);
  for (auto at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string counted(u64 count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", grouped(count), count == 1 ? one : several);
}

std::string size_text(u64 bytes) {
  constexpr u64 kib = 1024;
  for (const auto& [unit, name] :
       {std::pair{kib * kib * kib, "GiB"}, std::pair{kib * kib, "MiB"}, std::pair{kib, "KiB"}})
    if (bytes >= unit)
      return fmt::format("{:.1f} {}", static_cast<double>(bytes) / static_cast<double>(unit), name);
  return counted(bytes, "byte", "bytes");
}

}  // namespace coldtrace::cli
