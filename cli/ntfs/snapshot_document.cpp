#include "cli/ntfs/snapshot_document.hpp"

#include "cli/command/version.hpp"
#include "cli/privacy/names_option.hpp"

namespace coldtrace::cli {

using ntfs::State;

void SnapshotTotals::add(const ntfs::Snapshot& snapshot, const ntfs::Walk& walk) {
  ++volumes;
  gaps += snapshot.gaps().size();
  for (std::size_t i = 0; i < ntfs::state_count; ++i)
    states[i] += walk.count(static_cast<State>(i));
  for (std::size_t i = 0; i < ntfs::stale_reason_count; ++i)
    stale_reasons[i] += walk.count(static_cast<ntfs::StaleReason>(i));
}

void write_snapshot_header(JsonWriter& json, const DiskInput& input,
                           const ntfs::Partition& partition, const ntfs::Snapshot& snapshot,
                           const privacy::HashedNames* names) {
  json.begin_object()
      .field("type", "header")
      .field("schema", "coldtrace.ntfs-snapshot/1")
      .field("tool", tool_version);
  write_names_member(json, names);
  write_disk(json, input);
  json.key("partition");
  write_partition(json, partition, names == nullptr);
  write_volume(json, snapshot.volume(), names == nullptr);
  json.end_object();
  json.end_document();
}

void write_snapshot_gap(JsonWriter& json, const ntfs::Gap& gap) {
  const bool records = gap.lost == ntfs::Gap::Lost::records;
  json.begin_object()
      .field("type", "gap")
      .field("offset", gap.offset)
      .field("length", gap.length)
      .field("lost", records ? "records" : "index");
  if (records) {
    json.field("first_record", gap.first).field("records", gap.count);
  } else {
    json.field("directory", gap.first);
  }
  json.end_object();
  json.end_document();
}

void write_snapshot_summary(JsonWriter& json, const SnapshotTotals& totals,
                            std::optional<u64> matched) {
  json.begin_object().field("type", "summary").field("complete", true);
  json.key("counts").begin_object().field("volumes", totals.volumes);
  if (matched) json.field("matched", *matched);
  for (std::size_t i = 0; i < ntfs::state_count; ++i)
    json.field(to_string(static_cast<State>(i)), totals.states[i]);
  json.field("gaps", totals.gaps);
  json.key("stale_reasons").begin_object();
  for (std::size_t i = 0; i < ntfs::stale_reason_count; ++i)
    json.field(to_string(static_cast<ntfs::StaleReason>(i)), totals.stale_reasons[i]);
  json.end_object().end_object();
  json.key("findings");
  write_findings(json, totals.findings);
  json.end_object();
  json.end_document();
}

}  // namespace coldtrace::cli
