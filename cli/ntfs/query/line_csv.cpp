#include "cli/ntfs/query/line_csv.hpp"

#include <initializer_list>

#include <rapidjson/document.h>

#include "cli/ntfs/line_json.hpp"
#include "cli/ntfs/snapshot_values.hpp"
#include "cli/output/csv_text.hpp"
#include "cli/output/json_members.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;

void text_cell(core::TextBuffer& out, std::string_view text) {
  if (!needs_csv_quotes(text)) return out.append(text);
  out.append('"');
  append_doubled_quotes(out, text);
  out.append('"');
}

void json_cell(core::TextBuffer& out, const Value& json, Int64 int64) {
  core::TextBuffer text;
  append_json_value(text, json, int64);
  text_cell(out, text.view());
}

bool is_text_list(const Value& json) {
  if (!json.IsArray()) return false;
  for (const auto& element : json.GetArray())
    if (!element.IsString()) return false;
  return true;
}

// A number or a text as it is, names of flags with spaces between them, nothing where it is null.
void cell(core::TextBuffer& out, const Value* json) {
  if (json == nullptr || json->IsNull()) return;
  if (json->IsString())
    return text_cell(out, core::to_valid_utf8({json->GetString(), json->GetStringLength()}));
  if (!is_text_list(*json)) return json_cell(out, *json, Int64::number);
  std::string names;
  for (const auto& name : json->GetArray()) {
    if (!names.empty()) names += ' ';
    names.append(name.GetString(), name.GetStringLength());
  }
  text_cell(out, core::to_valid_utf8(names));
}

const Value* find(const Value* object, const char* name) {
  if (object == nullptr || !object->IsObject()) return nullptr;
  const auto found = object->FindMember(name);
  return found == object->MemberEnd() ? nullptr : &found->value;
}

// The columns of the members of an object.
std::vector<const char*> parts_of(RowField field) {
  switch (field) {
    case RowField::parent:
      return {"record", "sequence"};
    case RowField::si:
    case RowField::fn:
    case RowField::index:
      return {"created", "modified", "changed", "accessed"};
    case RowField::entry:
      return {"offset", "size", "allocated", "attributes", "copies"};
    case RowField::volume:
      return {"image", "partition", "start", "shadow"};
    default:
      return {};
  }
}

void reparse_cells(core::TextBuffer& out, const Value* reparse) {
  if (reparse != nullptr && reparse->IsObject())
    if (const auto tag = number_member(*reparse, "tag")) out.append(fmt::format("{:#010x}", *tag));
  out.append(',');
  cell(out, find(reparse, "target"));
}

// The units or the bytes of a target that its text does not show.
void target_cells(core::TextBuffer& out, const Value* reparse) {
  out.append(',');
  if (reparse != nullptr && !has_other_units(*reparse, "target", "target_utf16"))
    cell(out, find(reparse, "target_utf16"));
  out.append(',');
  if (reparse != nullptr && !has_other_bytes(*reparse, "target", "target_bytes"))
    cell(out, find(reparse, "target_bytes"));
}

void cells_of(core::TextBuffer& out, const Value* object, std::initializer_list<const char*> names,
              bool& first) {
  for (const auto* const name : names) {
    if (!first) out.append(',');
    first = false;
    cell(out, find(object, name));
  }
}

}  // namespace

void append_line_csv(core::TextBuffer& out, const Value& line, const RowFields& fields,
                     Int64 int64) {
  const auto& names = row_field_names();
  bool first = true;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto field = static_cast<RowField>(i);
    if (field == RowField::findings && fields.contains(RowField::zone_id))
      cells_of(out, find(&line, "zone_id"), {"zone", "referrer_url", "host_url"}, first);
    if (field == RowField::findings && fields.contains(RowField::deleted_at))
      cells_of(out, find(&line, "deleted_at"), {"time", "usn"}, first);
    if (!fields.contains(field)) continue;
    if (!first) out.append(',');
    first = false;
    const auto* const value = find(&line, names[i].c_str());
    const auto parts = parts_of(field);
    const bool is_json = field == RowField::streams || field == RowField::other_streams ||
                         field == RowField::ea || field == RowField::findings;
    if (field == RowField::reparse) {
      reparse_cells(out, value);
    } else if (is_json) {
      if (value != nullptr) json_cell(out, *value, int64);
    } else if (parts.empty()) {
      cell(out, value);
    }
    for (const auto* const part : parts) {
      if (part != parts.front()) out.append(',');
      cell(out, find(value, part));
    }
  }
  if (fields.contains(RowField::name)) {
    out.append(',');
    if (!has_other_units(line, "name", "name_utf16")) cell(out, find(&line, "name_utf16"));
  }
  if (fields.contains(RowField::reparse)) {
    out.append(',');
    cell(out, find(find(&line, "reparse"), "kind"));
  }
  if (fields.contains(RowField::path)) {
    out.append(',');
    if (!has_other_units(line, "path", "path_utf16")) cell(out, find(&line, "path_utf16"));
  }
  if (fields.contains(RowField::short_name)) {
    out.append(',');
    if (!has_other_units(line, "short_name", "short_name_utf16"))
      cell(out, find(&line, "short_name_utf16"));
  }
  if (fields.contains(RowField::reparse)) target_cells(out, find(&line, "reparse"));
  out.append('\n');
}

}  // namespace coldtrace::cli
