#include "cli/output/exact_text.hpp"

#include <algorithm>

#include "coldtrace/core/hex.hpp"

namespace coldtrace::cli {

std::string inexact_units(std::string_view exact) {
  std::string room;
  const bool valid = core::shown_text(exact, room).data() == exact.data();
  return valid ? std::string{} : core::to_utf16_hex(exact);
}

void append_exact_text(core::TextBuffer& json, std::string_view name, std::string_view exact) {
  json.append(",\"");
  json.append(name);
  json.append("\":");
  const auto units = append_shown_text(json, exact);
  if (units.empty()) return;
  json.append(",\"");
  json.append(name);
  json.append("_utf16\":\"");
  json.append(units);
  json.append('"');
}

void write_exact_texts(JsonWriter& json, std::string_view name,
                       const std::vector<std::string>& exact) {
  std::vector<std::string> units;
  json.key(name).begin_array();
  for (const auto& one : exact) {
    json.value(shown_text(one));
    units.push_back(inexact_units(one));
  }
  json.end_array();
  if (std::ranges::all_of(units, &std::string::empty)) return;
  json.key(std::string{name} + "_utf16").begin_array();
  for (const auto& one : units) json.value(one.empty() ? std::nullopt : std::optional{one});
  json.end_array();
}

std::string append_shown_text(core::TextBuffer& json, std::string_view exact) {
  std::string room;
  const auto shown = core::shown_text(exact, room);
  append_json_text(json, shown);
  return shown.data() == exact.data() ? std::string{} : core::to_utf16_hex(exact);
}

std::optional<std::string> find_exact_text(std::string_view shown, std::string_view units) {
  const auto bytes = core::parse_hex(units);
  if (!bytes || bytes->empty() || bytes->size() % 2 != 0) return std::nullopt;
  auto exact = core::decode_exact(*bytes);
  if (shown_text(exact) != shown) return std::nullopt;
  return exact;
}

}  // namespace coldtrace::cli
