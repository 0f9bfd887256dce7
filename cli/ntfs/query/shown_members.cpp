#include "cli/ntfs/query/shown_members.hpp"

#include <algorithm>

#include <rapidjson/document.h>

#include "cli/ntfs/snapshot_values.hpp"
#include "cli/output/json_members.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;

constexpr RowField shown_by_text[] = {
    RowField::path,    RowField::record,    RowField::sequence, RowField::state,
    RowField::si,      RowField::directory, RowField::reparse,  RowField::size,
    RowField::streams, RowField::findings,
};

template <class Is>
bool is_list_of(const Value& value, Is is) {
  return value.IsArray() && std::all_of(value.Begin(), value.End(), is);
}

bool is_of_type(const Value& line, RowField field, const char* name, const Value& value) {
  switch (field) {
    case RowField::record:
    case RowField::sequence:
    case RowField::links:
    case RowField::security_id:
    case RowField::usn:
    case RowField::record_offset:
    case RowField::size:
      return number_member(line, name).has_value();
    case RowField::directory:
      return value.IsBool();
    case RowField::attributes:
      return is_list_of(value, [](const Value& one) { return one.IsString(); });
    case RowField::streams:
    case RowField::other_streams:
      return is_list_of(value, is_snapshot_stream);
    case RowField::ea:
    case RowField::findings:
      return is_list_of(value, [](const Value& one) { return one.IsObject(); });
    case RowField::reparse:
      return value.IsObject() && (find_member(value, "tag", &Value::IsNull) != nullptr ||
                                  !value.HasMember("tag") || number_member(value, "tag"));
    case RowField::parent:
    case RowField::si:
    case RowField::fn:
    case RowField::index:
    case RowField::entry:
    case RowField::volume:
    case RowField::zone_id:
    case RowField::deleted_at:
      return value.IsObject();
    default:
      return value.IsString();
  }
}

}  // namespace

ShownMembers::ShownMembers(const std::string& format, const std::vector<std::string>& fields,
                           bool zone_ids) {
  if (zone_ids) fields_.push_back(RowField::zone_id);
  if (format == "text") {
    fields_.assign(std::begin(shown_by_text), std::end(shown_by_text));
    return;
  }
  shows_all_ = fields.empty() && format != "csv";
  if (shows_all_) return;
  const RowFields chosen{fields};
  for (std::size_t i = 0; i < chosen_field_names().size(); ++i)
    if (chosen.contains(static_cast<RowField>(i))) fields_.push_back(static_cast<RowField>(i));
}

void ShownMembers::check(const Value& line, std::set<std::string_view>& lacking,
                         MistypedMembers& mistyped) const {
  const auto check_type = [&](RowField field, const std::string& name) {
    const auto found = line.FindMember(name.c_str());
    if (found == line.MemberEnd()) return false;
    if (!found->value.IsNull() && !is_of_type(line, field, name.c_str(), found->value))
      mistyped.add(name);
    return true;
  };
  const auto& names = chosen_field_names();
  if (shows_all_)
    for (std::size_t i = 0; i < names.size(); ++i) check_type(static_cast<RowField>(i), names[i]);
  for (const auto field : fields_) {
    const auto& name = names[static_cast<std::size_t>(field)];
    if (!check_type(field, name)) lacking.insert(name);
  }
}

}  // namespace coldtrace::cli
