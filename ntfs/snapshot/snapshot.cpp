#include "coldtrace/ntfs/snapshot.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/ntfs/security.hpp"
#include "coldtrace/ntfs/structures/reparse_point.hpp"
#include "ntfs/snapshot/row_findings.hpp"
#include "ntfs/snapshot/stream_parts.hpp"

namespace coldtrace::ntfs {
namespace {

// Types that have a row field of their own, when their value is in the record.
bool is_other_stream(const AttributeFacts& attribute) {
  if (attribute.type == AttributeType::data) return false;
  return !attribute.resident || attribute.type == AttributeType::logged_utility_stream;
}

}  // namespace

Snapshot Snapshot::take(core::Borrowed<Volume> borrowed, Options options,
                        core::Findings& findings) {
  const auto& volume = borrowed.get();
  std::vector<Gap> gaps;
  ClusterMarks marks{volume.mft().clusters(), volume.image().size()};
  if (!marks.usable())
    findings.warning("clusters-unchecked", std::nullopt,
                     "there is not enough memory to check whether files share clusters");
  const auto begin = [&](Pass pass, u64 bytes) {
    return options.begin ? options.begin(pass, bytes) : nullptr;
  };
  const auto& mft = volume.mft();
  auto records = RecordTable::scan(
      volume.image(), mft, options.jobs, findings, gaps, &marks, Arena::chunk_limit,
      begin(Pass::records, core::saturating_multiply(mft.stored_count(), mft.record_size())));
  auto directories =
      mft.extracted()
          ? DirectoryTable::from_names(records)
          : DirectoryTable::read(volume.image(), mft, records,
                                 {.jobs = options.jobs,
                                  .slack = options.slack,
                                  .begin = [&](u64 bytes) { return begin(Pass::indexes, bytes); }},
                                 findings, gaps);
  if (mft.extracted() && options.slack)
    directories.read_record_slack(volume.image(), mft, records, findings, gaps);
  Snapshot snapshot{volume, std::move(records), std::move(directories)};
  snapshot.row_options_ = options.rows;
  snapshot.owners_ = volume.read_security_owners(findings);
  if (snapshot.owners_.empty() && snapshot.records_.secured() > 0 && !volume.mft().extracted())
    findings.warning("security-stream",
                     volume.mft().offset_of(static_cast<u64>(SystemRecord::secure)),
                     "$Secure has no usable $SDS: the {} unknown",
                     snapshot.records_.secured() == 1
                         ? std::string{"owner of 1 file is"}
                         : fmt::format("owners of {} files are", snapshot.records_.secured()));
  snapshot.clusters_ = ClusterOwners::find(volume.mft(), snapshot.records_, marks);
  std::ranges::sort(gaps, {}, [](const Gap& gap) { return std::pair{gap.offset, gap.first}; });
  for (const auto& gap : gaps) append_gap(snapshot.gaps_, gap);
  return snapshot;
}

void Snapshot::add_streams(FileRow& row) const {
  const auto& mft = volume_.mft();
  ExtentFaults faults;
  const StreamParts parts{row.facts.attributes, row.part_scratch};
  for (const auto& attribute : row.facts.attributes) {
    const bool data = attribute.type == AttributeType::data;
    if (!data && !is_other_stream(attribute)) continue;
    const AttributeFacts* first = &attribute;
    std::span<const AttributeFacts* const> own;
    if (!attribute.resident) {
      own = parts.of(attribute);
      // A stream stands where its name comes first.
      if (own.front() != &attribute) continue;
      first = *std::ranges::min_element(own, {}, &AttributeFacts::lowest_vcn);
    }
    StreamRow stream{.type = attribute.type,
                     .name = attribute.name,
                     .id = first->id,
                     .record = first->record,
                     .resident = attribute.resident,
                     .compressed = first->compressed,
                     .encrypted = first->encrypted,
                     .sparse = first->sparse,
                     .size = first->lowest_vcn == 0 ? std::optional{first->size} : std::nullopt,
                     .first_fixup = row.fixup_positions.size(),
                     .first_extent = row.extents.size()};
    if (attribute.resident) {
      const u64 position = attribute.record * mft.record_size() + u64{attribute.value_offset};
      stream.resident_offset = find_offset(mft.clusters(), mft.extents(), position);
      // The last two bytes of each stride are stored in the record's fixup array.
      for (u64 place = u64{attribute.value_offset} / fixup_stride * fixup_stride + 510;
           place < attribute.value_offset + attribute.size; place += fixup_stride)
        for (const u64 byte : {place, place + 1})
          if (byte >= attribute.value_offset && byte < attribute.value_offset + attribute.size)
            row.fixup_positions.push_back(static_cast<u32>(byte - attribute.value_offset));
      stream.fixup_count = row.fixup_positions.size() - stream.first_fixup;
    } else {
      if (stream.size) {
        stream.allocated = first->total_allocated.value_or(first->allocated_size);
        stream.valid = first->valid_size;
      } else {
        faults.gap = true;
      }
      if (own.size() == 1) {
        std::vector<Extent>& extents = row.extent_scratch;
        extents.clear();
        append_extents(attribute, mft.clusters(), extents, faults);
        row.extents.insert(row.extents.end(), extents.begin(), extents.end());
      } else {
        const auto extents = collect_extents({own.begin(), own.end()}, mft.clusters(), faults);
        row.extents.insert(row.extents.end(), extents.begin(), extents.end());
      }
      stream.extent_count = row.extents.size() - stream.first_extent;
      add_size_findings(row, stream, *first, mft);
    }
    (data ? row.streams : row.other_streams).push_back(stream);
  }
  add_extent_findings(row, faults, volume_);
}

void Snapshot::find_owner_of(FileRow& row) const {
  const auto& information = row.facts.information;
  if (information && information->security_id && *information->security_id != 0) {
    const auto owner = owners_.find(*information->security_id);
    if (owner != owners_.end()) {
      row.owner_sid = owner->second;
    } else if (!owners_.empty() && row.facts.in_use) {
      row.findings.push_back({"security-id", true,
                              fmt::format("$Secure has no usable descriptor with the id {}",
                                          *information->security_id)});
    }
    return;
  }
  const auto* descriptor = row.facts.find(AttributeType::security_descriptor);
  if (!descriptor) return;
  const auto unusable = [&] {
    row.findings.push_back(
        {"security-descriptor", true, "the owner in $SECURITY_DESCRIPTOR cannot be read"});
  };
  if (descriptor->resident) {
    const auto& owner = descriptor->value;
    if (owner.empty() && descriptor->size > 0) return;
    if (!slice_sid(owner, 0)) return unusable();
    // Neighbours mostly have one owner.
    if (!std::ranges::equal(row.owner_bytes, owner)) {
      row.owner_bytes.assign(owner.begin(), owner.end());
      row.owner_storage = sid_to_string(owner);
    }
    row.owner_sid = row.owner_storage;
    return;
  }
  if (volume_.mft().extracted()) {
    row.findings.push_back({"security-unread", false,
                            "the $SECURITY_DESCRIPTOR with the owner is in clusters of the volume, "
                            "which $MFT alone does not have"});
    return;
  }
  const auto value = read_value(*descriptor, row.facts);
  const auto owner = value ? find_owner(*value) : std::nullopt;
  // The clusters of deleted files may be another's.
  if (!owner && row.facts.in_use) return unusable();
  if (!owner || owner->empty()) return;
  row.owner_bytes.assign(owner->begin(), owner->end());
  row.owner_storage = sid_to_string(*owner);
  row.owner_sid = row.owner_storage;
}

std::optional<std::vector<std::byte>> Snapshot::read_value(const AttributeFacts& attribute,
                                                           const RecordFacts& facts) const {
  const auto& mft = volume_.mft();
  if (attribute.resident)
    return std::vector<std::byte>{attribute.value.begin(), attribute.value.end()};
  if (mft.extracted() || attribute.size > largest_value) return std::nullopt;
  ExtentFaults faults;
  const auto extents =
      collect_extents(facts, attribute.type, attribute.name, mft.clusters(), faults);
  std::vector<std::byte> value(attribute.size);
  if (!read_stream(volume_.image(), mft.clusters(), extents, 0, value)) return std::nullopt;
  return value;
}

void Snapshot::find_reparse_point(FileRow& row) const {
  const auto* attribute = row.facts.find(AttributeType::reparse_point);
  if (!attribute) return;
  const auto value = read_value(*attribute, row.facts);
  const auto point = value ? read_reparse_point(*value, row.record_offset.value_or(0))
                           : core::Result<ReparsePoint>{core::fail(
                                 {core::Fault::out_of_bounds, row.record_offset.value_or(0),
                                  "$REPARSE_POINT", "value", largest_value, attribute->size})};
  if (!point) {
    row.findings.push_back({"reparse-point", true, core::to_string(point.error())});
    return;
  }
  row.reparse_tag = point->tag;
  row.reparse_target = point->target;
}

void Snapshot::find_extended_attributes(FileRow& row) const {
  const auto* attribute = row.facts.find(AttributeType::ea);
  if (!attribute) return;
  if (attribute->resident) {
    row.extended_attributes = attribute->value;
    return;
  }
  // The clusters of deleted files may be another's; those of an extracted $MFT are out of reach.
  if (!row.facts.in_use || volume_.mft().extracted()) return;
  auto value = read_value(*attribute, row.facts);
  if (!value) {
    row.findings.push_back({"extended-attributes", true, "the extended attributes cannot be read"});
    return;
  }
  row.extended_attribute_bytes = std::move(*value);
  row.extended_attributes = row.extended_attribute_bytes;
}

// The only bytes of a file's contents that are read here.
void Snapshot::find_zone_id(FileRow& row) const {
  const auto stream = std::ranges::find_if(
      row.streams, [](const StreamRow& found) { return is_zone_identifier(found.name); });
  if (stream == row.streams.end()) return;
  row.zone_id = ZoneIdentifier{.resident = stream->resident};
  if (!stream->resident) return;
  std::vector<std::byte> record;
  RecordFacts facts;
  if (const auto read = volume_.mft().read(volume_.image(), stream->record, record, facts); !read) {
    row.findings.push_back(
        {"zone-unread", true,
         fmt::format("Zone.Identifier cannot be read: {}", core::to_string(read.error()))});
    return;
  }
  const auto attribute =
      std::ranges::find_if(facts.attributes, [&](const AttributeFacts& candidate) {
        return candidate.type == AttributeType::data && candidate.resident &&
               candidate.id == stream->id && candidate.name == stream->name;
      });
  if (attribute == facts.attributes.end()) return;
  const auto value = core::slice(record, attribute->value_offset, attribute->size);
  if (value) row.zone_id = read_zone_identifier(*value);
}

void Snapshot::load_file(const RowSource& source, FileRow& row) const {
  if (!source.has_record) {
    row.facts.clear();
    row.assembly = {};
    row.links = 0;
    row.loaded_from.reset();
  } else if (row.loaded_from != records_.identity() || row.facts.record != source.file.record) {
    row.assembly = records_.assemble(source.file.record, row.facts);
    row.links = count_links(row.facts);
    if (row.loaded_from != records_.identity()) row.loaded_from = records_.identity();
  }
}

void Snapshot::fetch_ahead(const RowBatch& batch) const {
  for (const auto& source : batch.rows) records_.fetch_ahead(source.file.record);
}

// False for a file of which all attributes are needed: they decide which stream is the content, and
// whether it is listed.
bool Snapshot::load_head(const RowSource& source, FileRow& row) const {
  if (!source.has_record || source.streams_left_out) return false;
  row.loaded_from.reset();
  records_.assemble_names(source.file.record, row.facts);
  if (row.facts.has_list || row.facts.damaged) return false;
  row.links = count_links(row.facts);
  return true;
}

void Snapshot::add_head(const RowBatch& batch, const RowSource& source, FileRow& row) const {
  row.clear();
  row.source = &source;
  row.parent_path = batch.parent_path(source);
  if (source.has_record) {
    row.record_offset = volume_.mft().offset_of(source.file.record);
    if (source.link && *source.link < row.facts.names.size()) {
      row.file_name = &row.facts.names[*source.link];
      row.short_name = find_short_name(row.facts, *row.file_name);
    }
  }
  row.name = row.file_name ? row.file_name->name : source.name;
  if (source.indexed)
    row.index = row.file_name && !source.packed_times.empty()
                    ? decode_index_times(source.packed_times, row.facts, *row.file_name)
                    : source.index;
}

void Snapshot::build_row(const RowBatch& batch, const RowSource& source, FileRow& row,
                         RowParts parts) const {
  if (parts == RowParts::head && load_head(source, row)) {
    add_head(batch, source, row);
    row.content_size = row.facts.content_size;
    return;
  }
  load_file(source, row);
  add_head(batch, source, row);
  if (source.has_record) {
    add_assembly_findings(row);
    add_link_finding(row);
    if (source.streams_left_out) {
      row.findings.push_back(
          {"streams-limit", true,
           "streams, extended attributes and reparse target are listed with another name of the "
           "file; repeated, they would be more than the image justifies",
           true});
    } else {
      add_streams(row);
      if (const auto* content = row.content()) row.content_size = content->size;
      if (parts == RowParts::streams) return;
      find_reparse_point(row);
      find_extended_attributes(row);
      if (row_options_.zone_ids) find_zone_id(row);
    }
    find_owner_of(row);
    if (const auto* id = row.facts.find(AttributeType::object_id);
        id && id->value.size() >= core::Guid::size_on_disk)
      row.object_id = core::to_guid(id->value);
  }
  add_row_findings(row, records_, row_options_.all_time_rules);
  add_unread_findings(row, volume_);
  if (!source.streams_left_out) clusters_.note_common(row);
}

}  // namespace coldtrace::ntfs
