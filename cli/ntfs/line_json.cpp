#include "cli/ntfs/line_json.hpp"

#include <rapidjson/document.h>

#include "cli/ntfs/snapshot_values.hpp"
#include "cli/output/json_text.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;

constexpr unsigned deepest = 8;

bool is_shallow(const Value& json, unsigned left) {
  if (!json.IsArray() && !json.IsObject()) return true;
  if (left == 0) return false;
  if (json.IsArray()) {
    for (const auto& element : json.GetArray())
      if (!is_shallow(element, left - 1)) return false;
    return true;
  }
  for (const auto& member : json.GetObject())
    if (!is_shallow(member.value, left - 1)) return false;
  return true;
}

std::string_view text_of(const Value& json) {
  return {json.GetString(), json.GetStringLength()};
}

void append_number(core::TextBuffer& out, const Value& json, Int64 int64) {
  if (json.IsUint64())
    append_json_integer(out, u64{json.GetUint64()}, int64);
  else if (json.IsInt64())
    append_json_integer(out, i64{json.GetInt64()}, int64);
  else
    out.append(fmt::format("{}", json.GetDouble()));
}

}  // namespace

bool is_shallow(const Value& json) {
  return is_shallow(json, deepest);
}

void append_json_value(core::TextBuffer& out, const Value& json, Int64 int64) {
  bool first = true;
  const auto separate = [&] {
    if (!first) out.append(',');
    first = false;
  };
  switch (json.GetType()) {
    case rapidjson::kNullType:
      return out.append("null");
    case rapidjson::kFalseType:
      return out.append("false");
    case rapidjson::kTrueType:
      return out.append("true");
    case rapidjson::kNumberType:
      return append_number(out, json, int64);
    case rapidjson::kStringType:
      append_json_text(out, text_of(json));
      return;
    case rapidjson::kArrayType:
      out.append('[');
      for (const auto& element : json.GetArray()) {
        separate();
        append_json_value(out, element, int64);
      }
      return out.append(']');
    case rapidjson::kObjectType:
      out.append('{');
      for (const auto& member : json.GetObject()) {
        separate();
        append_json_text(out, text_of(member.name));
        out.append(':');
        append_json_value(out, member.value, int64);
      }
      return out.append('}');
  }
}

void append_line_json(core::TextBuffer& out, const Value& line, const RowFields& fields,
                      Int64 int64) {
  const auto append_member = [&](const std::string& name) {
    const auto found = line.FindMember(name.c_str());
    if (found == line.MemberEnd()) return;
    out.append(',');
    append_json_text(out, name);
    out.append(':');
    append_json_value(out, found->value, int64);
  };
  out.append(R"({"type":"file")");
  // Lines have these two where the snapshot was asked for them.
  const auto has_object = [&](RowField field, const char* name) {
    const auto found = line.FindMember(name);
    return fields.contains(field) && found != line.MemberEnd() &&
           (found->value.IsObject() || found->value.IsNull());
  };
  const bool has_zone = has_object(RowField::zone_id, "zone_id");
  const bool has_deleted = has_object(RowField::deleted_at, "deleted_at");
  const auto& names = row_field_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto field = static_cast<RowField>(i);
    if (field == RowField::findings && has_zone) append_member("zone_id");
    if (field == RowField::findings && has_deleted) append_member("deleted_at");
    if (!fields.contains(field)) continue;
    append_member(names[i]);
    if (field == RowField::path && !has_other_units(line, "path", "path_utf16"))
      append_member("path_utf16");
    if (field == RowField::name && !has_other_units(line, "name", "name_utf16"))
      append_member("name_utf16");
    if (field == RowField::short_name && !has_other_units(line, "short_name", "short_name_utf16"))
      append_member("short_name_utf16");
  }
  out.append("}\n");
}

}  // namespace coldtrace::cli
