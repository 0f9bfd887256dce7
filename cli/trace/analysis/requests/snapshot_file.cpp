#include "cli/trace/analysis/requests/snapshot_file.hpp"

#include <fmt/format.h>

#include "cli/ntfs/given_file.hpp"
#include "cli/ntfs/snapshot_lines.hpp"
#include "cli/output/json_members.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/trace_analysis/findings/answer_findings.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;

class SnapshotReader {
 public:
  SnapshotReader(DiskSnapshot& snapshot, std::optional<u64> offset)
      : snapshot_{snapshot}, offset_{offset} {
    snapshot_.offset = offset_.value_or(0);
  }

  // False where the line is none of a snapshot.
  bool read(const Value& json) {
    if (!json.IsObject()) return false;
    const auto type = text_member(json, "type");
    if (type == "header") return read_header(json);
    if (cluster_size_ == 0 && !seen_header_) return false;
    return type != "file" || read_file(json);
  }

  void report(core::Findings& findings) const { mistyped_.report(findings); }

 private:
  bool read_header(const Value& json) {
    if (!is_snapshot_header(json)) return false;
    seen_header_ = true;
    cluster_size_ = 0;
    if (const auto* volume = find_member(json, "volume", &Value::IsObject))
      if (const auto* size = find_member(*volume, "cluster_size", &Value::IsUint64))
        cluster_size_ = size->GetUint64();
    if (const auto* disk = find_member(json, "disk", &Value::IsObject))
      snapshot_.whole_disk |= text_member(*disk, "table") != "volume";
    return true;
  }

  bool read_file(const Value& json) {
    auto path = text_member(json, "path");
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

  void read_stream(const Value& stream, const std::string& path, trace_analysis::NameState state) {
    const auto* extents = find_member(stream, "extents", &Value::IsArray);
    if (extents == nullptr || extents->Empty()) return;
    auto name = path;
    if (const auto own = text_member(stream, "name"); !own.empty()) name += ":" + own;
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
    const auto* offset = find_member(extent, "offset", &Value::IsUint64);
    const auto* clusters = find_member(extent, "clusters", &Value::IsUint64);
    if (offset == nullptr && find_member(extent, "offset", &Value::IsNull) != nullptr)
      return std::nullopt;
    Place place{};
    if (offset == nullptr || clusters == nullptr ||
        __builtin_add_overflow(offset->GetUint64(), snapshot_.offset, &place.offset) ||
        __builtin_mul_overflow(clusters->GetUint64(), cluster_size_, &place.bytes))
      return Place{};
    return place;
  }

  DiskSnapshot& snapshot_;
  std::optional<u64> offset_;
  u64 cluster_size_ = 0;
  bool seen_header_ = false;
  MistypedMembers mistyped_;
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
  SnapshotReader reader{snapshot, offset};
  SnapshotLines lines{*given->bytes};
  if (!lines.read_all([&](const Value& json) { return reader.read(json); })) {
    report.failed(path, "not the NDJSON of 'coldtrace ntfs snapshot'");
    return std::nullopt;
  }
  snapshot.map.finish();
  reader.report(findings);
  lines.report(findings);
  trace_analysis::note_disk_map(snapshot.map, findings);
  if (!snapshot.whole_disk && !offset)
    findings.info("snapshot-place", std::nullopt,
                  "the snapshot is of a volume alone, which is taken to begin where the disk does "
                  "(--snapshot-offset)");
  return snapshot;
}

}  // namespace

void add_snapshot_options(Command& command, SnapshotOptions& options) {
  auto snapshot =
      command.add_input("--snapshot", options.file,
                        "Names files by place: the NDJSON of 'ntfs snapshot' of the disk");
  snapshot.check("", [](const std::string& text) {
    return text.empty() ? "the name of the file is empty" : std::string{};
  });
  command
      .add_option("--snapshot-offset", options.offset,
                  "Where on the disk the image or its snapshot begins")
      .type_name("BYTES")
      .default_str("0")
      .needs(snapshot);
  command
      .add_option("--snapshot-disk", options.disk,
                  "Number of the disk of the image or snapshot in the trace")
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
