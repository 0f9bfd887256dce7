#include "cli/ntfs/snapshot_header.hpp"

#include "cli/ntfs/line_json.hpp"
#include "cli/ntfs/snapshot_values.hpp"
#include "cli/output/json_members.hpp"
#include "coldtrace/core/file_time.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;

std::string json_of(const Value& json, const char* member, Int64 int64) {
  const auto* const value = find_member(json, member, &Value::IsObject);
  if (value == nullptr) return "null";
  core::TextBuffer text;
  append_json_value(text, *value, int64);
  return std::string{text.view()};
}

u32 small_number(const Value& json, const char* member, u32 otherwise) {
  const auto number = number_member(json, member);
  return number && *number <= ~u32{0} ? static_cast<u32>(*number) : otherwise;
}

void read_partition(const Value& json, ntfs::Partition& partition) {
  partition.number = small_number(json, "number", 0);
  partition.offset = number_member(json, "offset").value_or(0);
  partition.size = number_member(json, "size").value_or(0);
  partition.type = text_member(json, "type");
  partition.name = text_member(json, "name");
  const auto* const copy = find_member(json, "shadow", &Value::IsObject);
  if (copy == nullptr) return;
  const auto created = core::parse_file_time(text_member(*copy, "created"));
  partition.shadow = {small_number(*copy, "number", 0), created.value_or(core::FileTime{})};
}

void read_volume(const Value& json, const Value& volume, SnapshotHeader& header) {
  header.of_mft_alone = is_of_mft_alone(volume);
  header.clusters = ntfs::place_clusters(read_stated_clusters(json, volume)).map;
  header.record_size = small_number(volume, "record_size", 0);
  const auto* const extents = find_member(volume, "mft_extents", &Value::IsArray);
  if (extents == nullptr) return;
  MistypedMembers unused;
  for (const auto& extent : extents->GetArray())
    if (extent.IsObject())
      header.mft.push_back(read_snapshot_extent(extent, "mft_extents", unused));
}

}  // namespace

std::optional<SnapshotHeader> read_snapshot_header(const Value& json, Int64 int64) {
  if (!is_shallow(json)) return std::nullopt;
  SnapshotHeader header{.partition = {},
                        .clusters = {},
                        .mft = {},
                        .tool = text_member(json, "tool"),
                        .disk = json_of(json, "disk", int64),
                        .partition_json = json_of(json, "partition", int64),
                        .volume = json_of(json, "volume", int64),
                        .names = json_of(json, "names", int64)};
  if (const auto* const disk = find_member(json, "disk", &Value::IsObject)) {
    header.disk_size = number_member(*disk, "size").value_or(0);
    header.sector_size = std::max(small_number(*disk, "sector_size", 512), u32{1});
  }
  if (const auto* const partition = find_member(json, "partition", &Value::IsObject))
    read_partition(*partition, header.partition);
  if (const auto* const volume = find_member(json, "volume", &Value::IsObject))
    read_volume(json, *volume, header);
  return header;
}

void write_read_member(JsonWriter& json, std::string_view name, std::string_view value) {
  std::vector<core::TextBuffer> pieces(1);
  pieces.front().append(value);
  json.key(name).written(pieces);
}

}  // namespace coldtrace::cli
