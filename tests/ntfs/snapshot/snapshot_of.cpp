#include "tests/ntfs/snapshot/snapshot_of.hpp"

namespace coldtrace::tests {
namespace {

void add_places(const ntfs::FileRow& row, const std::vector<ntfs::StreamRow>& streams,
                const ntfs::ClusterMap& clusters, bool content, SeenRow& seen) {
  for (const auto& stream : streams)
    for (const auto& extent : row.extents_of(stream))
      if (const auto offset = extent.lcn ? clusters.offset_of(*extent.lcn) : std::nullopt)
        seen.places.push_back({*offset, extent.clusters * clusters.cluster_size, content});
}

SeenRow copy(const ntfs::FileRow& row, const ntfs::ClusterMap& clusters) {
  SeenRow seen{.state = row.source->state,
               .record = row.source->file.record,
               .sequence = row.source->file.sequence,
               .directory = row.facts.directory,
               .links = row.links,
               .short_name = row.short_name ? to_utf8(row.short_name->name) : "",
               .codes = {},
               .texts = {},
               .size = {},
               .record_offset = row.record_offset,
               .resident_offset = {},
               .fixup_positions = {},
               .extents = {},
               .streams = {},
               .target = row.reparse_target,
               .owner = std::string{row.owner_sid},
               .information = {},
               .named = {},
               .index = row.index,
               .parent = row.source->parent.record,
               .places = {}};
  add_places(row, row.streams, clusters, true, seen);
  add_places(row, row.other_streams, clusters, false, seen);
  if (row.facts.information) seen.information = row.facts.information->times;
  if (row.file_name) seen.named = row.file_name->times;
  for (const auto& finding : row.findings) {
    seen.codes.emplace_back(finding.code.view());
    seen.texts.push_back(finding.text);
  }
  for (const auto& stream : row.streams) seen.streams.push_back(to_utf8(stream.name));
  if (const auto* content = row.content()) {
    seen.size = content->size;
    seen.resident_offset = content->resident_offset;
    const auto fixups = row.fixups_of(*content);
    seen.fixup_positions.assign(fixups.begin(), fixups.end());
    const auto extents = row.extents_of(*content);
    seen.extents.assign(extents.begin(), extents.end());
  }
  return seen;
}

}  // namespace

Seen snapshot_of(const core::ImageSource& image, const SnapshotOptions& options) {
  Seen seen;
  const auto volume =
      options.mft_only
          ? ntfs::Volume::open_extracted_mft(image, seen.findings)
          : ntfs::Volume::open(image, options.offset, image.size() - options.offset, seen.findings);
  if (!volume) {
    seen.error = volume.error();
    return seen;
  }
  seen.opened = true;
  const auto snapshot =
      ntfs::Snapshot::take(*volume, {.jobs = options.jobs, .slack = options.slack}, seen.findings);
  seen.gaps = snapshot.gaps();
  ntfs::Walk walk{snapshot, options.states};
  ntfs::RowBatch batch;
  ntfs::FileRow row;
  while (walk.next(batch)) {
    for (const auto& source : batch.rows) {
      snapshot.build_row(batch, source, row);
      note_findings(row, seen.findings);
      if (!source.wanted) continue;
      auto path = row.name.empty() ? std::string{batch.parent_path(source)} + "/" : row.path();
      if (source.file.record == ntfs::root_record) path.assign(1, '/');
      seen.order.push_back(path);
      seen.rows.emplace(std::move(path), copy(row, volume->mft().clusters()));
    }
  }
  seen.findings.merge(walk.findings());
  return seen;
}

Seen snapshot_of(core::ByteView bytes, const SnapshotOptions& options) {
  const core::MemoryImage image{bytes};
  return snapshot_of(image, options);
}

}  // namespace coldtrace::tests
