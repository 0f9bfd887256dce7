#include "cli/ntfs/query/line_values.hpp"

#include <algorithm>
#include <string>

#include <rapidjson/document.h>

#include "cli/ntfs/snapshot_values.hpp"
#include "cli/output/json_members.hpp"
#include "coldtrace/core/file_time.hpp"
#include "coldtrace/ntfs/row.hpp"
#include "coldtrace/ntfs/structures/dos_attributes.hpp"

namespace coldtrace::cli {
namespace {

using ntfs::FileMember;
using rapidjson::Value;
using See = ntfs::FileValues::See;

std::string_view text_of(const Value& json) {
  return {json.GetString(), json.GetStringLength()};
}

bool is_value_of(FileMember member, std::string_view text) {
  switch (member) {
    case FileMember::state:
      return ntfs::to_state(text).has_value();
    case FileMember::attributes:
    case FileMember::entry_attributes:
      return ntfs::dos_attribute_bit(text) != 0;
    case FileMember::finding_severity:
      return text == "info" || text == "warning";
    default:
      return true;
  }
}

// False where it is not a value of the type.
bool see_value(const Value& json, FileMember member, const See& see) {
  const auto types = types_of(member);
  if (types.number) {
    const auto number = to_number(json);
    if (number) see({.number = where::Number::of(*number)});
    return number.has_value();
  }
  if (types.boolean) {
    if (json.IsBool()) see({.boolean = json.GetBool()});
    return json.IsBool();
  }
  if (!json.IsString()) return false;
  if (types.time) {
    const auto time = core::parse_file_time(text_of(json));
    if (time && time->ticks != 0) see({.time = time});
    return time.has_value();
  }
  if (types.guid) {
    const auto guid = core::parse_guid(text_of(json));
    if (guid) see({.guid = guid});
    return guid.has_value();
  }
  if (!is_value_of(member, text_of(json))) return false;
  see({.text = text_of(json)});
  return true;
}

const Value* find(const Value& object, std::string_view name) {
  if (!object.IsObject()) return nullptr;
  const auto found = object.FindMember(
      Value{rapidjson::StringRef(name.data(), static_cast<rapidjson::SizeType>(name.size()))});
  return found == object.MemberEnd() ? nullptr : &found->value;
}

// Whether a member is units or bytes of another text than the one beside them, which SnapshotReader
// tells.
bool is_of_other_text(const Value& object, std::string_view name) {
  constexpr std::string_view suffixes[] = {"_utf16", "_bytes"};
  for (const auto suffix : suffixes) {
    if (!name.ends_with(suffix)) continue;
    const std::string text{name.substr(0, name.size() - suffix.size())};
    const std::string exact{name};
    return suffix == suffixes[0] ? has_other_units(object, text.c_str(), exact.c_str())
                                 : has_other_bytes(object, text.c_str(), exact.c_str());
  }
  return false;
}

// What a path of names leads to, through the elements of lists. False where something on the way
// or at its end is neither what it must be nor null.
bool follow(const Value& json, std::string_view path, FileMember asked, const See& see) {
  if (json.IsNull()) return true;
  if (!json.IsObject()) return false;
  const auto dot = path.find('.');
  const auto name = path.substr(0, dot);
  const auto* const member = find(json, name);
  if (member == nullptr || is_of_other_text(json, name)) return true;
  const auto go_on = [&](const Value& value) {
    if (value.IsNull()) return true;
    return dot == std::string_view::npos ? see_value(value, asked, see)
                                         : follow(value, path.substr(dot + 1), asked, see);
  };
  if (!member->IsArray()) return go_on(*member);
  bool sound = true;
  for (const auto& element : member->GetArray()) sound &= go_on(element);
  return sound;
}

// Whether each object on the way of the path has the name that leads on. Where one is null, or not
// of its type, nothing is missing.
bool has_path(const Value& json, std::string_view path) {
  if (!json.IsObject()) return true;
  const auto dot = path.find('.');
  const auto* const member = find(json, path.substr(0, dot));
  if (member == nullptr) return false;
  if (dot == std::string_view::npos) return true;
  const auto rest = path.substr(dot + 1);
  if (!member->IsArray()) return has_path(*member, rest);
  const auto elements = member->GetArray();
  return std::all_of(elements.begin(), elements.end(),
                     [&](const Value& element) { return has_path(element, rest); });
}

void number(const std::optional<u64>& value, const See& see) {
  if (value) see({.number = where::Number::of(*value)});
}

}  // namespace

void LineValues::each(FileMember member, const See& see) {
  switch (member) {
    case FileMember::extension: {
      const auto* const name = find(*line_, "name");
      if (name == nullptr || name->IsNull()) return;
      if (!name->IsString()) return mistyped_.add("name");
      if (const auto extension = ntfs::extension_of(text_of(*name))) see({.text = extension});
      return;
    }
    case FileMember::created:
    case FileMember::modified:
    case FileMember::changed:
    case FileMember::accessed:
      for (const auto* const set : {"si", "fn", "index"})
        if (const auto* const times = find(*line_, set))
          if (!follow(*times, to_string(member), member, see)) mistyped_.add(set);
      return;
    case FileMember::partition_number:
      return number(number_, see);
    case FileMember::partition_offset:
      return number(offset_, see);
    case FileMember::partition_shadow:
      return number(shadow_, see);
    default:
      if (!follow(*line_, to_string(member), member, see)) mistyped_.add(to_string(member));
  }
}

bool has_member(const Value& line, FileMember member) {
  switch (member) {
    case FileMember::extension:
    case FileMember::name_utf16:  // only where it is needed
      return find(line, "name") != nullptr;
    case FileMember::path_utf16:
      return find(line, "path") != nullptr;
    case FileMember::short_name_utf16:
      return find(line, "short_name") != nullptr;
    case FileMember::reparse_target_utf16:
    case FileMember::reparse_target_bytes:
      return has_path(line, "reparse.target");
    case FileMember::ea_name_bytes:
      return has_path(line, "ea.name");
    case FileMember::stream_name_utf16:
      return has_path(line, "streams.name");
    case FileMember::other_name_utf16:
      return has_path(line, "other_streams.name");
    case FileMember::created:
    case FileMember::modified:
    case FileMember::changed:
    case FileMember::accessed: {
      const std::string time{to_string(member)};
      return has_path(line, "si." + time) && has_path(line, "fn." + time) &&
             has_path(line, "index." + time);
    }
    case FileMember::partition_number:
    case FileMember::partition_offset:
    case FileMember::partition_shadow:
      return true;
    default:
      return has_path(line, to_string(member));
  }
}

}  // namespace coldtrace::cli
