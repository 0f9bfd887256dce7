#include "cli/trace/analysis/requests/snapshot_file.hpp"

#include <fmt/format.h>

#include "cli/ntfs/given_file.hpp"
#include "cli/ntfs/snapshot_reader.hpp"
#include "cli/ntfs/snapshot_values.hpp"
#include "cli/output/json_members.hpp"
#include "coldtrace/core/checked.hpp"
#include "coldtrace/trace_analysis/findings/answer_findings.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;

// Lays the files of a snapshot on the disk of a trace.
class MappedLines {
 public:
  MappedLines(DiskSnapshot& snapshot, std::optional<u64> offset, MistypedMembers& mistyped)
      : snapshot_{snapshot}, mistyped_{mistyped} {
    snapshot_.offset = offset.value_or(0);
  }

  bool begin(const SnapshotHeader& header, const Value& json) {
    cluster_size_ = header.clusters.cluster_size;
    if (const auto* disk = find_member(json, "disk", &Value::IsObject))
      snapshot_.whole_disk |= text_member(*disk, "table") != "volume";
    return true;
  }

  // False of a name in no state that there is.
  bool read_file(const Value& json) {
    auto path = read_exact_path(json);
    if (const auto* record = find_member(json, "record", &Value::IsUint64);
        path.empty() && record != nullptr)
      path = fmt::format("/<record {}>", record->GetUint64());
    const auto state = trace_analysis::find_name_state(text_member(json, "state"));
    if (!state) return false;
    for (const auto* member : {"streams", "other_streams"})
      if (const auto* streams = mistyped_.find(json, member, &Value::IsArray))
        for (const auto& stream : streams->GetArray())
          if (stream.IsObject()) read_stream(stream, path, *state);
    return true;
  }

 private:
  void read_stream(const Value& stream, const std::string& path, trace_analysis::NameState state) {
    const auto* extents = find_member(stream, "extents", &Value::IsArray);
    if (extents == nullptr || extents->Empty()) return;
    auto name = path;
    if (const auto own = read_exact_name(stream); !own.empty()) name += ":" + own;
    std::optional<u32> file;
    for (const auto& extent : extents->GetArray()) {
      const auto place = read_place(extent);
      if (!place) continue;
      if (!file) file = snapshot_.map.add_file({name, state});
      if (!file) return;
      snapshot_.map.add_extent(*file, place->offset, place->bytes);
    }
  }

  struct Place {
    u64 offset;  // on the disk
    u64 bytes;   // 0 where there is none
  };

  // Nothing of a hole, which has no offset.
  std::optional<Place> read_place(const Value& extent) const {
    if (!extent.IsObject()) return Place{};
    const auto offset = number_member(extent, "offset");
    const auto clusters = number_member(extent, "clusters");
    if (!offset && find_member(extent, "offset", &Value::IsNull) != nullptr) return std::nullopt;
    if (!offset || !clusters) return Place{};
    const auto on_disk = core::checked_add(*offset, snapshot_.offset);
    const auto bytes = core::checked_multiply(*clusters, cluster_size_);
    return on_disk && bytes ? Place{*on_disk, *bytes} : Place{};
  }

  DiskSnapshot& snapshot_;
  u64 cluster_size_ = 0;  // of the volume whose rows are read
  MistypedMembers& mistyped_;
};

// Nothing when the file cannot be used, which `report` says.
std::optional<DiskSnapshot> read_snapshot(const SnapshotOptions& options, u64 largest_bytes,
                                          core::Findings& findings, Report& report) {
  const auto& [path, offset, disk] = options;
  const auto given = open_given(path, std::nullopt, false, findings, report);
  if (!given) return std::nullopt;
  if (!given->bytes) {
    report.failed(path, *given->error);
    return std::nullopt;
  }
  DiskSnapshot snapshot{trace_analysis::DiskMap{static_cast<std::size_t>(largest_bytes)}};
  snapshot.disk = disk;
  MistypedMembers mistyped;
  SnapshotReader reader{*given->bytes, mistyped};
  MappedLines lines{snapshot, offset, mistyped};
  const bool read = reader.read_all(
      Int64::number,
      [&](const SnapshotHeader& header, const Value& json) { return lines.begin(header, json); },
      [&](std::string_view type, const Value& json) {
        return type != "file" || lines.read_file(json);
      });
  if (!read) {
    report.failed(path, "not the NDJSON of 'coldtrace ntfs snapshot'");
    return std::nullopt;
  }
  if (const auto refusal = reader.refusal(); !refusal.empty()) {
    report.failed(path, refusal);
    return std::nullopt;
  }
  snapshot.map.finish();
  mistyped.report(findings);
  reader.report(findings);
  if (reader.whole()) {
    reader.names().report("name no request", findings);
    ntfs::note_left_out(reader.names().left_out(), findings);
  }
  trace_analysis::note_disk_map(snapshot.map, findings);
  trace_analysis::note_snapshot_place(snapshot.whole_disk, offset.has_value(), findings);
  return snapshot;
}

}  // namespace

void add_snapshot_options(Command& command, SnapshotOptions& options) {
  auto snapshot = command.add_input(
      "--snapshot", options.file,
      "Name files by their location on the disk, from the NDJSON of its 'ntfs snapshot'");
  snapshot.check("", [](const std::string& text) {
    return text.empty() ? "the name of the file is empty" : std::string{};
  });
  command
      .add_option("--snapshot-offset", options.offset,
                  "Where on the disk the image or snapshot begins")
      .type_name("BYTES")
      .default_str("0")
      .needs(snapshot);
  command
      .add_option("--snapshot-disk", options.disk,
                  "Number by which the trace knows the disk of the image or snapshot")
      .capture_default_str()
      .needs(snapshot);
}

SnapshotInput::SnapshotInput(const SnapshotOptions& options, u64 largest_bytes,
                             core::Findings& findings, Report& report) {
  if (!options.file.empty()) snapshot_ = read_snapshot(options, largest_bytes, findings, report);
  opened_ = snapshot_ || options.file.empty();
}

std::optional<trace_analysis::DiskIo::Snapshot> SnapshotInput::on_disk() const {
  if (!snapshot_) return std::nullopt;
  return trace_analysis::DiskIo::Snapshot{snapshot_->map, snapshot_->disk};
}

}  // namespace coldtrace::cli
