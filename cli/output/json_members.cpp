#include "cli/output/json_members.hpp"

#include <charconv>
#include <string_view>

#include "cli/output/json_number.hpp"
#include "coldtrace/core/hex.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {

using rapidjson::Value;

const Value* find_member(const Value& object, const char* name, bool (Value::*is)() const) {
  if (!object.IsObject()) return nullptr;
  const auto member = object.FindMember(name);
  return member != object.MemberEnd() && (member->value.*is)() ? &member->value : nullptr;
}

std::string text_member(const Value& object, const char* name) {
  const auto* text = find_member(object, name, &Value::IsString);
  return text ? std::string{text->GetString(), text->GetStringLength()} : std::string{};
}

std::string file_text_member(const Value& object, const char* name) {
  const auto bytes = core::parse_hex(text_member(object, (std::string{name} + "_bytes").c_str()));
  return bytes && !bytes->empty() ? std::string{core::to_chars(*bytes)} : text_member(object, name);
}

std::optional<u64> to_number(const Value& json) {
  if (json.IsUint64()) return json.GetUint64();
  if (!json.IsString()) return std::nullopt;
  const std::string_view text{json.GetString(), json.GetStringLength()};
  u64 number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  if (!whole || text.front() == '0' || number <= largest_exact_integer) return std::nullopt;
  return number;
}

std::optional<u64> number_member(const Value& json, const char* name) {
  if (!json.IsObject()) return std::nullopt;
  const auto member = json.FindMember(name);
  return member == json.MemberEnd() ? std::nullopt : to_number(member->value);
}

}  // namespace coldtrace::cli
