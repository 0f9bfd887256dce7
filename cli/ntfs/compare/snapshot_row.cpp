#include "cli/ntfs/compare/snapshot_row.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "cli/ntfs/snapshot_values.hpp"
#include "cli/output/exact_text.hpp"
#include "cli/output/json_members.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;

std::optional<ntfs::FileReference> reference(const Value& json) {
  constexpr u64 most_records = u64{1} << 48;
  const auto record = number_member(json, "record");
  const auto sequence = number_member(json, "sequence");
  if (!record || !sequence || *record >= most_records || *sequence > 0xffff) return std::nullopt;
  return ntfs::FileReference{*record, static_cast<u16>(*sequence)};
}

std::optional<u32> read_attributes(const Value& json, MistypedMembers& mistyped) {
  const auto* names = mistyped.find(json, "attributes", &Value::IsArray);
  if (!names) return std::nullopt;
  u32 bits = 0;
  for (const auto& name : names->GetArray())
    if (name.IsString())
      bits |= dos_attribute_bit({name.GetString(), name.GetStringLength()});
    else
      mistyped.add("attributes");
  return bits;
}

ntfs::ComparedStream read_stream(const Value& json, MistypedMembers& mistyped) {
  if (!is_snapshot_stream(json)) mistyped.add("streams");
  const auto is_true = [&](const char* name) {
    return json.IsObject() && find_member(json, name, &Value::IsTrue) != nullptr;
  };
  ntfs::ComparedStream stream{.name = read_exact_name(json),
                              .size = number_member(json, "size"),
                              .resident = is_true("resident"),
                              .compressed = is_true("compressed"),
                              .encrypted = is_true("encrypted"),
                              .sparse = is_true("sparse"),
                              .valid = number_member(json, "valid"),
                              .extents = {}};
  if (!json.IsObject()) return stream;
  if (const auto* extents = mistyped.find(json, "extents", &Value::IsArray))
    for (const auto& extent : extents->GetArray())
      stream.extents.push_back(read_snapshot_extent(extent, "streams", mistyped));
  return stream;
}

// A member that is text; empty where it is null.
std::optional<std::string> text_or_none(const Value& json, const char* name,
                                        MistypedMembers& mistyped) {
  if (find_member(json, name, &Value::IsNull)) return std::string{};
  const auto* text = mistyped.find(json, name, &Value::IsString);
  return text ? std::optional<std::string>{{text->GetString(), text->GetStringLength()}}
              : std::nullopt;
}

std::optional<std::string> read_short_name(const Value& json, MistypedMembers& mistyped) {
  auto name = text_or_none(json, "short_name", mistyped);
  return name ? find_exact_text(*name, text_member(json, "short_name_utf16")).value_or(*name)
              : name;
}

std::optional<std::string> read_security_id(const Value& json, MistypedMembers& mistyped) {
  if (find_member(json, "security_id", &Value::IsNull)) return std::string{};
  const auto number = number_member(json, "security_id");
  if (!number && json.HasMember("security_id")) mistyped.add("security_id");
  return number ? std::optional{fmt::format("{}", *number)} : std::nullopt;
}

// What lies outside the record, which a row without it could not read.
bool has_other_stream(const Value& json, std::string_view type) {
  const auto* streams = find_member(json, "other_streams", &Value::IsArray);
  if (!streams) return false;
  for (const auto& stream : streams->GetArray())
    if (stream.IsObject() && text_member(stream, "type") == type) return true;
  return false;
}

std::optional<std::string> read_reparse(const Value& json, MistypedMembers& mistyped) {
  if (find_member(json, "reparse", &Value::IsNull))
    return has_other_stream(json, "$REPARSE_POINT") ? std::nullopt : std::optional<std::string>{""};
  const auto* reparse = mistyped.find(json, "reparse", &Value::IsObject);
  if (!reparse) return std::nullopt;
  const auto tag = number_member(*reparse, "tag");
  if (!tag) mistyped.add("reparse");
  return tag ? std::optional{ntfs::compared_reparse(static_cast<u32>(*tag),
                                                    read_exact_target(*reparse))}
             : std::nullopt;
}

std::optional<std::string> read_other_streams(const Value& json, MistypedMembers& mistyped) {
  const auto* streams = mistyped.find(json, "other_streams", &Value::IsArray);
  if (!streams) return std::nullopt;
  std::string text;
  for (const auto& stream : streams->GetArray()) {
    if (!is_snapshot_stream(stream)) {
      mistyped.add("other_streams");
      return std::nullopt;
    }
    ntfs::append_compared_stream(text, text_member(stream, "type"), read_exact_name(stream),
                                 number_member(stream, "size"));
  }
  return text;
}

std::optional<std::string> read_extended_attributes(const Value& json, MistypedMembers& mistyped) {
  const auto* entries = mistyped.find(json, "ea", &Value::IsArray);
  if (!entries || (entries->Empty() && has_other_stream(json, "$EA"))) return std::nullopt;
  std::string text;
  for (const auto& entry : entries->GetArray()) {
    const auto size = entry.IsObject() ? number_member(entry, "size") : std::nullopt;
    if (!size) {
      mistyped.add("ea");
      return std::nullopt;
    }
    ntfs::append_compared_attribute(text, read_exact_bytes(entry, "name", "name_bytes"), *size);
  }
  return text;
}

template <class Is>
bool has_finding(const Value& json, Is is) {
  const auto* findings = find_member(json, "findings", &Value::IsArray);
  return findings && std::ranges::any_of(findings->GetArray(), [&](const Value& finding) {
           return is(text_member(finding, "code"));
         });
}

// Of a name whose streams are told with another one there are none.
bool has_streams_left_out(const Value& json) {
  return has_finding(json, [](std::string_view code) { return code == "streams-limit"; });
}

}  // namespace

bool read_compared_file(const Value& json, ntfs::ComparedFile& file, LackingMembers& lacking,
                        MistypedMembers& mistyped) {
  for (const auto* name : {"path", "name", "record", "sequence", "parent"})
    if (!json.HasMember(name) && lacking.needed.find(name) == std::string::npos)
      (lacking.needed += ' ') += name;
  const auto own = reference(json);
  const auto* parent = find_member(json, "parent", &Value::IsObject);
  const auto in = parent ? reference(*parent) : std::nullopt;
  if (!own || !in || !find_member(json, "name", &Value::IsString) ||
      !find_member(json, "path", &Value::IsString))
    return false;
  file = {};
  file.file = *own;
  file.directory = mistyped.find(json, "directory", &Value::IsBool) != nullptr &&
                   find_member(json, "directory", &Value::IsTrue) != nullptr;
  file.names.push_back({*in, read_exact_name(json), read_exact_path(json),
                        read_short_name(json, mistyped),
                        read_snapshot_times(json, "fn", mistyped)});
  file.times = read_snapshot_times(json, "si", mistyped);
  file.attributes = read_attributes(json, mistyped);
  if (const auto* owner = mistyped.find(json, "owner_sid", &Value::IsString);
      owner && owner->GetStringLength() > 0)
    file.owner.emplace(owner->GetString(), owner->GetStringLength());
  auto& [security_id, object_id, reparse, extended_attributes, other_streams] = file.members;
  security_id = read_security_id(json, mistyped);
  object_id = text_or_none(json, "object_id", mistyped);
  if (!has_streams_left_out(json)) {
    reparse = read_reparse(json, mistyped);
    extended_attributes = read_extended_attributes(json, mistyped);
    other_streams = read_other_streams(json, mistyped);
  }
  file.incomplete = has_finding(json, ntfs::loses_attributes);
  if (file.incomplete) forget_lost(file);
  for (const std::string name :
       {"short_name", "fn", "security_id", "object_id", "reparse", "ea", "other_streams"})
    if (!json.HasMember(name.c_str())) lacking.others.insert(name);
  lacking.times |= !json.HasMember("si");
  lacking.attributes |= !json.HasMember("attributes");
  const auto* streams = mistyped.find(json, "streams", &Value::IsArray);
  lacking.streams |= !streams;
  if (!streams || has_streams_left_out(json)) return true;
  auto& read = file.streams.emplace();
  for (const auto& stream : streams->GetArray()) read.push_back(read_stream(stream, mistyped));
  return true;
}

}  // namespace coldtrace::cli
