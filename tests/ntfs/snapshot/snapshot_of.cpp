#include "tests/ntfs/snapshot/snapshot_of.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "coldtrace/core/text.hpp"

namespace coldtrace::tests {
namespace {

void add_places(const ntfs::FileRow& row, const std::vector<ntfs::StreamRow>& streams,
                const ntfs::ClusterMap& clusters, bool content, SeenRow& seen) {
  for (const auto& stream : streams)
    for (const auto& extent : row.extents_of(stream))
      if (const auto offset = extent.lcn ? clusters.offset_of(*extent.lcn) : std::nullopt)
        seen.places.push_back({*offset, extent.clusters * clusters.cluster_size, content});
}

std::string to_text(const ntfs::Times& times) {
  return fmt::format(" {}/{}/{}/{}", times.created.ticks, times.modified.ticks, times.changed.ticks,
                     times.accessed.ticks);
}

std::string to_text(const ntfs::FileRow& row, const ntfs::StreamRow& stream) {
  const auto number = [](const std::optional<u64>& value) {
    return value ? fmt::format("{}", *value) : std::string{"-"};
  };
  auto text = fmt::format(
      "\n{:#x} '{}' {} {}{}{}{} in {}: {} {} {} at {}", static_cast<u32>(stream.type),
      to_utf8(stream.name), stream.id, stream.resident ? 'r' : '-', stream.compressed ? 'c' : '-',
      stream.encrypted ? 'e' : '-', stream.sparse ? 's' : '-', stream.record, number(stream.size),
      number(stream.allocated), number(stream.valid), number(stream.resident_offset));
  for (const auto& extent : row.extents_of(stream))
    text += fmt::format(" {}+{}@{}", extent.vcn, extent.clusters,
                        extent.lcn ? static_cast<i64>(*extent.lcn) : -1);
  for (const auto position : row.fixups_of(stream)) text += fmt::format(" f{}", position);
  return text;
}

std::string members_of(const ntfs::FileRow& row) {
  auto text =
      fmt::format("{} {} {} {} {} {}", static_cast<int>(row.source->state), row.facts.directory,
                  row.facts.sequence, row.links, row.owner_sid, row.record_offset.value_or(0));
  if (const auto& own = row.facts.information)
    text += to_text(own->times) + fmt::format(" {:#x} {} {}", own->dos_attributes,
                                              own->security_id.value_or(0), own->usn.value_or(0));
  if (row.file_name) text += to_text(row.file_name->times);
  if (row.index) text += to_text(*row.index);
  if (row.short_name) text += " short " + to_utf8(row.short_name->name);
  if (row.object_id) text += " id " + to_string(*row.object_id);
  if (row.reparse_tag) text += fmt::format(" tag {:#x}", *row.reparse_tag);
  if (row.reparse_target) text += " to " + *row.reparse_target;
  text += fmt::format(" ea {}", std::string{core::to_chars(row.extended_attributes)});
  for (const auto& stream : row.streams) text += to_text(row, stream);
  for (const auto& stream : row.other_streams) text += to_text(row, stream);
  return text;
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
               .places = {},
               .members = members_of(row)};
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

// Whether a row of parts is the whole one, as far as it goes.
bool is_part(const ntfs::FileRow& row, const ntfs::FileRow& whole, ntfs::RowParts parts) {
  const auto times = [](const ntfs::FileRow& of) {
    return of.facts.information ? std::optional{of.facts.information->times} : std::nullopt;
  };
  const auto named = [](const ntfs::FileName* name) {
    return name ? std::optional{std::pair{to_exact(name->name), name->times}} : std::nullopt;
  };
  const auto is_same = [](const ntfs::Extent& a, const ntfs::Extent& b) {
    return a.vcn == b.vcn && a.lcn == b.lcn && a.clusters == b.clusters;
  };
  if (row.path() != whole.path() || row.facts.directory != whole.facts.directory ||
      row.links != whole.links || row.content_size != whole.content_size ||
      row.record_offset != whole.record_offset || row.index != whole.index ||
      times(row) != times(whole) || named(row.file_name) != named(whole.file_name) ||
      named(row.short_name) != named(whole.short_name))
    return false;
  return parts == ntfs::RowParts::head || (row.streams.size() == whole.streams.size() &&
                                           row.other_streams.size() == whole.other_streams.size() &&
                                           row.fixup_positions == whole.fixup_positions &&
                                           std::ranges::equal(row.extents, whole.extents, is_same));
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
  ntfs::FileRow row_of_parts;
  while (walk.next(batch)) {
    for (const auto& source : batch.rows) {
      snapshot.build_row(batch, source, row);
      note_findings(row, seen.findings);
      for (const auto parts : {ntfs::RowParts::head, ntfs::RowParts::streams}) {
        snapshot.build_row(batch, source, row_of_parts, parts);
        if (!is_part(row_of_parts, row, parts)) FAIL_CHECK("a row of parts of " << row.path());
      }
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
