#include "cli/ntfs/rows/exact_text.hpp"

#include <utility>

#include <fmt/format.h>

#include "coldtrace/core/hex.hpp"
#include "coldtrace/core/printable.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/structures/stored_text.hpp"

namespace coldtrace::cli {

std::string shown_text(std::string_view exact) {
  std::string shown;
  ntfs::append_utf8(shown, exact);
  return shown;
}

std::string inexact_units(std::string_view exact) {
  std::string shown;
  return ntfs::append_utf8(shown, exact) ? std::string{} : ntfs::to_utf16_hex(exact);
}

void write_exact_text(JsonWriter& json, std::string_view name,
                      std::optional<std::string_view> exact) {
  json.key(name).value(exact ? std::optional{shown_text(*exact)} : std::nullopt);
  if (const auto units = inexact_units(exact.value_or("")); !units.empty())
    json.key(std::string{name} + "_utf16").value(units);
}

void append_exact_text(core::TextBuffer& json, std::string_view name, std::string_view exact) {
  json.append(",\"");
  json.append(name);
  json.append("\":");
  append_json_text(json, shown_text(exact));
  const auto units = inexact_units(exact);
  if (units.empty()) return;
  json.append(",\"");
  json.append(name);
  json.append("_utf16\":\"");
  json.append(units);
  json.append('"');
}

std::string printable_exact(std::string_view exact) {
  if (!core::is_valid_utf8(shown_text(exact))) return core::printable(exact);
  constexpr std::string_view stand_in = "\u202e";  // escaped in the same way
  constexpr std::size_t digits = 4;
  std::string text;
  for (auto at = exact.find('\xed'); at != exact.npos; at = exact.find('\xed', at)) {
    const auto character = core::first_character(exact.substr(at));
    const auto unit = static_cast<u32>(core::code_point(character));
    at += character.size();
    if (unit < 0xd800) continue;
    text += core::printable(std::string{exact.substr(0, at - character.size())}.append(stand_in));
    text.replace(text.size() - digits, digits, fmt::format("{:04x}", unit));
    exact.remove_prefix(std::exchange(at, 0));
  }
  return text + core::printable(exact);
}

std::optional<std::string> find_exact_text(std::string_view shown, std::string_view units) {
  const auto bytes = core::parse_hex(units);
  if (!bytes || bytes->empty() || bytes->size() % 2 != 0) return std::nullopt;
  auto exact = ntfs::to_exact(ntfs::to_stored_text(*bytes));
  if (shown_text(exact) != shown) return std::nullopt;
  return exact;
}

}  // namespace coldtrace::cli
