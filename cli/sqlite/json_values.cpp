#include "cli/sqlite/json_values.hpp"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "cli/command/checked_allocator.hpp"

namespace coldtrace::cli {

std::string json_of(const rapidjson::Value& value) {
  using Buffer = rapidjson::GenericStringBuffer<rapidjson::UTF8<>, CheckedAllocator>;
  Buffer text;
  rapidjson::Writer<Buffer, rapidjson::UTF8<>, rapidjson::UTF8<>, CheckedAllocator> writer{text};
  value.Accept(writer);
  return {text.GetString(), text.GetSize()};
}

std::string plain_of(const rapidjson::Value& value) {
  if (value.IsString()) return {value.GetString(), value.GetStringLength()};
  return json_of(value);
}

const rapidjson::Value& member_of(const rapidjson::Value& object, const char* name) {
  static const rapidjson::Value null;
  if (!object.IsObject()) return null;
  const auto found = object.FindMember(name);
  return found == object.MemberEnd() ? null : found->value;
}

std::string_view text_of(const rapidjson::Value& object, const char* name) {
  const auto& value = member_of(object, name);
  if (!value.IsString()) return {};
  return {value.GetString(), value.GetStringLength()};
}

void add_integer(SqliteRows& rows, const rapidjson::Value& value) {
  if (value.IsBool())
    rows.integer(value.GetBool() ? 1 : 0);
  else if (value.IsInt64())
    rows.integer(value.GetInt64());
  else
    rows.null();
}

void add_text(SqliteRows& rows, const rapidjson::Value& value) {
  if (value.IsNull())
    rows.null();
  else
    rows.text(plain_of(value));
}

}  // namespace coldtrace::cli
