#include "cli/ntfs/compare/snapshot_row.hpp"

#include "cli/ntfs/ntfs_rows.hpp"
#include "cli/ntfs/snapshot_time.hpp"
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

std::optional<ntfs::Times> read_times(const Value& json, MistypedMembers& mistyped) {
  const auto* times = mistyped.find(json, "si", &Value::IsObject);
  if (!times) return std::nullopt;
  const auto time = [&](const char* name) {
    const auto* const text = mistyped.find(*times, name, &Value::IsString);
    if (!text) return core::FileTime{};
    const auto read = parse_snapshot_time({text->GetString(), text->GetStringLength()});
    if (!read) mistyped.add("si");
    return read.value_or(core::FileTime{});
  };
  return ntfs::Times{time("created"), time("modified"), time("changed"), time("accessed")};
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

// Names that are not valid UTF-16 are told apart by their units.
std::string read_name(const Value& json) {
  const auto units = text_member(json, "name_utf16");
  return units.empty() ? text_member(json, "name") : ntfs::inexact_name(units);
}

bool is_absent_or_null(const Value& object, const char* name) {
  return !object.HasMember(name) || find_member(object, name, &Value::IsNull) != nullptr;
}

// Whether the members that are compared are of the types they have.
bool is_extent(const Value& json) {
  if (!json.IsObject()) return false;
  for (const auto* name : {"vcn", "clusters"})
    if (json.HasMember(name) && !number_member(json, name)) return false;
  return number_member(json, "lcn") || is_absent_or_null(json, "lcn");
}

bool is_stream(const Value& json) {
  if (!json.IsObject()) return false;
  for (const auto* name : {"name", "name_utf16"})
    if (!find_member(json, name, &Value::IsString) && !is_absent_or_null(json, name)) return false;
  return (number_member(json, "size") || is_absent_or_null(json, "size")) &&
         (find_member(json, "resident", &Value::IsBool) || !json.HasMember("resident"));
}

ntfs::Extent read_extent(const Value& json, MistypedMembers& mistyped) {
  if (!is_extent(json)) mistyped.add("streams");
  ntfs::Extent extent{.vcn = number_member(json, "vcn").value_or(0),
                      .clusters = number_member(json, "clusters").value_or(0),
                      .lcn = std::nullopt};
  if (const auto lcn = number_member(json, "lcn")) extent.lcn = ntfs::Lcn{*lcn};
  return extent;
}

ntfs::ComparedStream read_stream(const Value& json, MistypedMembers& mistyped) {
  if (!is_stream(json)) mistyped.add("streams");
  ntfs::ComparedStream stream{.name = read_name(json),
                              .size = number_member(json, "size"),
                              .resident = find_member(json, "resident", &Value::IsTrue) != nullptr,
                              .extents = {}};
  if (!json.IsObject()) return stream;
  if (const auto* extents = mistyped.find(json, "extents", &Value::IsArray))
    for (const auto& extent : extents->GetArray())
      stream.extents.push_back(read_extent(extent, mistyped));
  return stream;
}

// Of a name whose streams are told with another one there are none.
bool has_streams_left_out(const Value& json) {
  const auto* findings = find_member(json, "findings", &Value::IsArray);
  if (!findings) return false;
  for (const auto& finding : findings->GetArray())
    if (text_member(finding, "code") == "streams-limit") return true;
  return false;
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
  file.names.push_back({*in, read_name(json), text_member(json, "path")});
  file.times = read_times(json, mistyped);
  file.attributes = read_attributes(json, mistyped);
  if (const auto* owner = mistyped.find(json, "owner_sid", &Value::IsString);
      owner && owner->GetStringLength() > 0)
    file.owner.emplace(owner->GetString(), owner->GetStringLength());
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
