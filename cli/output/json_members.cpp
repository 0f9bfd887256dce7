#include "cli/output/json_members.hpp"

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

}  // namespace coldtrace::cli
