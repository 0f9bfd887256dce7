#include "cli/sqlite/json_values.hpp"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "cli/command/checked_allocator.hpp"
#include "cli/output/exact_text.hpp"

namespace coldtrace::cli {
namespace {

using Buffer = rapidjson::GenericStringBuffer<rapidjson::UTF8<>, CheckedAllocator>;
using Writer = rapidjson::Writer<Buffer, rapidjson::UTF8<>, rapidjson::UTF8<>, CheckedAllocator>;

std::string_view view_of(const rapidjson::Value& text) {
  return {text.GetString(), text.GetStringLength()};
}

// An array of texts as JSON, in which those with units are exact.
std::string exact_array(const rapidjson::Value& texts, const rapidjson::Value& units) {
  Buffer json;
  Writer writer{json};
  writer.StartArray();
  for (rapidjson::SizeType i = 0; i < texts.Size(); ++i) {
    const bool has_units = i < units.Size() && units[i].IsString() && texts[i].IsString();
    const auto exact =
        has_units ? find_exact_text(view_of(texts[i]), view_of(units[i])) : std::nullopt;
    if (exact)
      writer.String(exact->data(), static_cast<rapidjson::SizeType>(exact->size()));
    else
      texts[i].Accept(writer);
  }
  writer.EndArray();
  return {json.GetString(), json.GetSize()};
}

}  // namespace

std::string json_of(const rapidjson::Value& value) {
  Buffer text;
  Writer writer{text};
  value.Accept(writer);
  return {text.GetString(), text.GetSize()};
}

std::string plain_of(const rapidjson::Value& value) {
  if (value.IsString()) return std::string{view_of(value)};
  return json_of(value);
}

std::string exact_of(const rapidjson::Value& object, const char* name) {
  constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD
  const auto& value = member_of(object, name);
  auto shown = value.IsNull() ? std::string{} : plain_of(value);
  if (shown.find(replacement) == shown.npos) return shown;
  const auto& units = member_of(object, (name + std::string{"_utf16"}).c_str());
  if (value.IsArray() && units.IsArray()) return exact_array(value, units);
  if (!value.IsString() || !units.IsString()) return shown;
  return find_exact_text(shown, view_of(units)).value_or(shown);
}

const rapidjson::Value& member_of(const rapidjson::Value& object, const char* name) {
  static const rapidjson::Value null;
  if (!object.IsObject()) return null;
  const auto found = object.FindMember(name);
  return found == object.MemberEnd() ? null : found->value;
}

std::string_view text_of(const rapidjson::Value& object, const char* name) {
  const auto& value = member_of(object, name);
  return value.IsString() ? view_of(value) : std::string_view{};
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
