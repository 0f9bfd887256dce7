#include "cli/output/json_members.hpp"

#include <charconv>

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

std::optional<u64> number_member(const Value& json, const char* name) {
  if (const auto* number = find_member(json, name, &Value::IsUint64)) return number->GetUint64();
  const auto text = text_member(json, name);
  u64 number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace coldtrace::cli
