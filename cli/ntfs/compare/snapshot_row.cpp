#include "cli/ntfs/compare/snapshot_row.hpp"

#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "cli/ntfs/snapshot_values.hpp"
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

// Names that are not valid UTF-16 are told apart by their units.
std::string read_name(const Value& json) {
  const auto units = text_member(json, "name_utf16");
  return units.empty() ? text_member(json, "name") : ntfs::inexact_name(units);
}

ntfs::ComparedStream read_stream(const Value& json, MistypedMembers& mistyped) {
  if (!is_snapshot_stream(json)) mistyped.add("streams");
  ntfs::ComparedStream stream{.name = read_name(json),
                              .size = number_member(json, "size"),
                              .resident = find_member(json, "resident", &Value::IsTrue) != nullptr,
                              .extents = {}};
  if (!json.IsObject()) return stream;
  if (const auto* extents = mistyped.find(json, "extents", &Value::IsArray))
    for (const auto& extent : extents->GetArray())
      stream.extents.push_back(read_snapshot_extent(extent, "streams", mistyped));
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
  file.times = read_snapshot_times(json, mistyped);
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
