#include "cli/ntfs/snapshot_values.hpp"

#include <utility>

#include "cli/output/exact_text.hpp"
#include "cli/output/json_members.hpp"
#include "coldtrace/core/file_time.hpp"
#include "coldtrace/core/hex.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;

bool is_absent_or_null(const Value& object, const char* name) {
  return !object.HasMember(name) || find_member(object, name, &Value::IsNull) != nullptr;
}

bool is_extent(const Value& json) {
  if (!json.IsObject()) return false;
  for (const auto* name : {"vcn", "clusters"})
    if (json.HasMember(name) && !number_member(json, name)) return false;
  return number_member(json, "lcn") || is_absent_or_null(json, "lcn");
}

std::optional<std::string> find_exact_bytes(const Value& json, const char* text,
                                            const char* bytes) {
  const auto read = core::parse_hex(text_member(json, bytes));
  if (!read || read->empty()) return std::nullopt;
  std::string exact{core::to_chars(*read)};
  if (core::to_valid_utf8(exact) != text_member(json, text)) return std::nullopt;
  return exact;
}

}  // namespace

std::optional<ntfs::State> read_snapshot_state(const Value& json, MistypedMembers& mistyped) {
  const auto state = ntfs::to_state(text_member(json, "state"));
  if (!state && !is_absent_or_null(json, "state")) mistyped.add("state");
  return state;
}

bool is_of_mft_alone(const Value& volume) {
  return text_member(volume, "source") == "mft";
}

ntfs::StatedClusters read_stated_clusters(const Value& header, const Value& volume) {
  ntfs::StatedClusters stated;
  stated.of_mft_alone = is_of_mft_alone(volume);
  stated.cluster_size = number_member(volume, "cluster_size");
  stated.clusters = number_member(volume, "clusters");
  if (const auto* const partition = find_member(header, "partition", &Value::IsObject))
    stated.partition_offset = number_member(*partition, "offset").value_or(0);
  if (const auto* extents = find_member(volume, "mft_extents", &Value::IsArray))
    for (const auto& extent : extents->GetArray()) {
      stated.lcn = number_member(extent, "lcn");
      stated.offset = number_member(extent, "offset");
      if (stated.lcn && stated.offset) break;
    }
  return stated;
}

StatedFile read_snapshot_file(const Value& json, MistypedMembers& mistyped) {
  constexpr u64 most_records = u64{1} << 48;
  const auto told = [&](const char* name, bool is_value) {
    if (!is_value && !is_absent_or_null(json, name)) mistyped.add(name);
    return is_value;
  };
  const auto record = number_member(json, "record");
  const auto sequence = number_member(json, "sequence");
  StatedFile read{.file = std::nullopt, .state = read_snapshot_state(json, mistyped)};
  const bool is_record = told("record", record && *record < most_records);
  if (told("sequence", sequence && *sequence <= 0xffff) && is_record)
    read.file = {*record, static_cast<u16>(*sequence)};
  return read;
}

bool has_other_units(const Value& json, const char* text, const char* units) {
  return json.IsObject() && !is_absent_or_null(json, units) &&
         !find_exact_text(text_member(json, text), text_member(json, units));
}

bool has_other_bytes(const Value& json, const char* text, const char* bytes) {
  return json.IsObject() && !is_absent_or_null(json, bytes) && !find_exact_bytes(json, text, bytes);
}

void check_units(const Value& row, MistypedMembers& mistyped) {
  if (has_other_units(row, "path", "path_utf16")) mistyped.add("path_utf16");
  if (has_other_units(row, "name", "name_utf16")) mistyped.add("name_utf16");
  if (has_other_units(row, "short_name", "short_name_utf16")) mistyped.add("short_name_utf16");
  if (const auto* const reparse = find_member(row, "reparse", &Value::IsObject)) {
    if (has_other_units(*reparse, "target", "target_utf16")) mistyped.add("reparse.target_utf16");
    if (has_other_bytes(*reparse, "target", "target_bytes")) mistyped.add("reparse.target_bytes");
  }
  if (const auto* const attributes = find_member(row, "ea", &Value::IsArray))
    for (const auto& attribute : attributes->GetArray())
      if (has_other_bytes(attribute, "name", "name_bytes")) mistyped.add("ea.name_bytes");
  for (const auto& [member, units] :
       {std::pair{"streams", "streams.name_utf16"}, {"other_streams", "other_streams.name_utf16"}})
    if (const auto* const streams = find_member(row, member, &Value::IsArray))
      for (const auto& stream : streams->GetArray())
        if (has_other_units(stream, "name", "name_utf16")) mistyped.add(units);
}

std::string read_exact_path(const Value& json) {
  auto path = text_member(json, "path");
  return find_exact_text(path, text_member(json, "path_utf16")).value_or(std::move(path));
}

std::string read_exact_name(const Value& json) {
  auto name = text_member(json, "name");
  return find_exact_text(name, text_member(json, "name_utf16")).value_or(std::move(name));
}

std::string read_exact_target(const Value& reparse) {
  const auto target = text_member(reparse, "target");
  const auto exact = find_exact_text(target, text_member(reparse, "target_utf16"));
  return exact ? *exact : read_exact_bytes(reparse, "target", "target_bytes");
}

std::string read_exact_bytes(const Value& json, const char* text, const char* bytes) {
  return find_exact_bytes(json, text, bytes).value_or(text_member(json, text));
}

ntfs::Gap read_snapshot_gap(const Value& json) {
  const bool records = text_member(json, "lost") == "records";
  return {number_member(json, "offset"), number_member(json, "length").value_or(0),
          records ? ntfs::Gap::Lost::records : ntfs::Gap::Lost::index,
          number_member(json, records ? "first_record" : "directory").value_or(0),
          number_member(json, "records").value_or(~u64{0})};
}

std::optional<ntfs::Times> read_snapshot_times(const Value& json, const char* member,
                                               MistypedMembers& mistyped) {
  const auto* times = mistyped.find(json, member, &Value::IsObject);
  if (!times) return std::nullopt;
  const auto time = [&](const char* name) {
    const auto* const text = mistyped.find(*times, name, &Value::IsString);
    if (!text) return core::FileTime{};
    const auto read = core::parse_file_time({text->GetString(), text->GetStringLength()});
    if (!read) mistyped.add(member);
    return read.value_or(core::FileTime{});
  };
  return ntfs::Times{time("created"), time("modified"), time("changed"), time("accessed")};
}

bool is_snapshot_stream(const Value& json) {
  if (!json.IsObject()) return false;
  for (const auto* name : {"name", "name_utf16"})
    if (!find_member(json, name, &Value::IsString) && !is_absent_or_null(json, name)) return false;
  for (const auto* name : {"size", "valid"})
    if (!number_member(json, name) && !is_absent_or_null(json, name)) return false;
  for (const auto* name : {"compressed", "encrypted", "sparse"})
    if (json.HasMember(name) && !find_member(json, name, &Value::IsBool)) return false;
  return find_member(json, "resident", &Value::IsBool) || !json.HasMember("resident");
}

ntfs::Extent read_snapshot_extent(const Value& json, std::string_view member,
                                  MistypedMembers& mistyped) {
  if (!is_extent(json)) mistyped.add(member);
  ntfs::Extent extent{.vcn = number_member(json, "vcn").value_or(0),
                      .clusters = number_member(json, "clusters").value_or(0),
                      .lcn = std::nullopt};
  if (const auto lcn = number_member(json, "lcn")) extent.lcn = ntfs::Lcn{*lcn};
  return extent;
}

}  // namespace coldtrace::cli
