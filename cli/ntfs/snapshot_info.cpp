#include "cli/ntfs/snapshot_info.hpp"

#include <rapidjson/document.h>

#include "cli/command/parsed_json.hpp"
#include "cli/layout/wrapped_line.hpp"
#include "cli/ntfs/snapshot_reader.hpp"
#include "cli/ntfs/snapshot_values.hpp"
#include "cli/output/json_members.hpp"
#include "cli/output/text.hpp"
#include "cli/output/text_time.hpp"
#include "coldtrace/core/file_kind.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;

void count_row(std::string_view type, const Value& json, SnapshotInfo::Volume& volume,
               MistypedMembers& mistyped) {
  if (type == "gap") ++volume.gaps;
  if (type != "file") return;
  volume.stateless |= !json.HasMember("state");
  if (const auto state = read_snapshot_file(json, mistyped).state)
    ++volume.rows[static_cast<std::size_t>(*state)];
}

core::FileKind kind_of(const Value& volume) {
  return text_member(volume, "source") == "mft" ? core::FileKind::ntfs_mft
                                                : core::FileKind::ntfs_volume;
}

std::string rows_text(const SnapshotInfo::Volume& volume) {
  std::string text;
  for (std::size_t i = 0; i < ntfs::state_count; ++i)
    if (volume.rows[i] > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", grouped(volume.rows[i]),
                          to_string(static_cast<ntfs::State>(i)));
  if (text.empty()) text = "none";
  if (volume.stateless) text = "states unknown";
  if (volume.gaps > 0) text += fmt::format("; {}", counted(volume.gaps, "gap", "gaps"));
  return text;
}

std::string known(const Value& json, const char* member, std::string_view unit = {}) {
  const auto number = number_member(json, member);
  return number ? unit.empty() ? size_text(*number) : fmt::format("{} {}", grouped(*number), unit)
                : std::string{"not known"};
}

void write_volume(Output& output, const SnapshotInfo::Volume& volume) {
  const auto& partition = volume.header.partition;
  const ParsedJson volume_json{volume.header.volume};
  const auto& json = volume_json.value();
  print(output, "{:>3}  at {:#x}, {}, type {}{}{}: {}\n", partition.number, partition.offset,
        size_text(partition.size), partition.type.empty() ? "-" : printable(partition.type),
        partition.name.empty() ? "" : " '" + printable(partition.name) + "'",
        partition.shadow ? fmt::format(", shadow copy {} of {}", partition.shadow->number,
                                       zoned_text_time(partition.shadow->created))
                         : "",
        to_string(kind_of(json)));
  if (const auto version = text_member(json, "version"); !version.empty())
    print(output, "  NTFS {}, label '{}', {}\n", printable(version),
          printable(text_member(json, "label")),
          find_member(json, "dirty", &Value::IsTrue) ? "dirty" : "clean");
  const auto serial = text_member(json, "serial_number");
  write_wrapped(output,
                fmt::format("  serial number {}, sectors of {}, {} of {}, records of {}",
                            serial.empty() ? "not known" : printable(serial),
                            known(json, "bytes_per_sector"), known(json, "clusters", "clusters"),
                            known(json, "cluster_size"), known(json, "record_size")),
                4);
  print(output, "  $MFT of {}; rows: {}\n", known(json, "records", "records"), rows_text(volume));
}

void write_row_counts(JsonWriter& json, const SnapshotInfo::Volume& volume) {
  json.begin_object();
  for (std::size_t i = 0; i < ntfs::state_count; ++i)
    json.field(to_string(static_cast<ntfs::State>(i)), volume.rows[i]);
  json.field("gaps", volume.gaps).end_object();
}

}  // namespace

core::Expected<SnapshotInfo, std::string> read_snapshot_info(const core::ImageSource& file,
                                                             std::optional<u32> partition,
                                                             Int64 int64,
                                                             core::Findings& findings) {
  MistypedMembers mistyped;
  SnapshotReader reader{file, mistyped};
  SnapshotInfo info;
  bool chosen = false;
  const bool read = reader.read_all(
      int64,
      [&](SnapshotHeader& header, const Value&) {
        chosen = !partition || header.partition.number == *partition;
        if (chosen) info.volumes.push_back({.header = std::move(header)});
        return true;
      },
      [&](std::string_view type, const Value& json) {
        if (chosen) count_row(type, json, info.volumes.back(), mistyped);
        return true;
      });
  if (!read) return core::fail(reader.why_none());
  if (auto refusal = reader.refusal(); !refusal.empty()) return core::fail(std::move(refusal));
  info.complete = reader.whole();
  if (info.complete) reader.names().report("are not counted", findings);
  reader.report(findings);
  mistyped.report(findings);
  return info;
}

void write_snapshot_info_json(JsonWriter& json, const SnapshotInfo& info) {
  const auto& first = info.volumes.front().header;
  write_read_member(json, "disk", first.disk);
  json.key("hashes").begin_array().end_array();
  json.key("snapshot").begin_object().field("tool", first.tool).field("complete", info.complete);
  write_read_member(json, "names", first.names);
  json.end_object();
  json.key("partitions").begin_array();
  for (const auto& volume : info.volumes) {
    json.begin_object();
    write_read_member(json, "partition", volume.header.partition_json);
    json.field("holds", name_of(kind_of(ParsedJson{volume.header.volume}.value())));
    write_read_member(json, "volume", volume.header.volume);
    json.key("rows");
    if (volume.stateless)
      json.value(nullptr);
    else
      write_row_counts(json, volume);
    for (const auto* const absent : {"counts", "shadow_copies", "bitlocker"})
      json.key(std::string_view{absent}).value(nullptr);
    json.end_object();
  }
  json.end_array();
}

void write_snapshot_info_text(Output& output, const std::string& path, const SnapshotInfo& info) {
  const auto& first = info.volumes.front().header;
  const ParsedJson disk_json{first.disk};
  const auto& disk = disk_json.value();
  print(output, "{}: snapshot by {}{} of a {} image of {}, {}sectors of {}\n", printable(path),
        first.tool.empty() ? "an unknown program" : printable(first.tool),
        info.complete ? "" : ", incomplete,", printable(text_member(disk, "container")),
        size_text(first.disk_size),
        text_member(disk, "table") == "volume"
            ? std::string{"one volume, "}
            : fmt::format("{} with {}, ", printable(text_member(disk, "table")),
                          counted(number_member(disk, "partitions").value_or(0), "partition",
                                  "partitions")),
        size_text(first.sector_size));
  if (first.names != "null") output.write("  names are keyed hashes\n");
  for (const auto& volume : info.volumes) write_volume(output, volume);
}

}  // namespace coldtrace::cli
