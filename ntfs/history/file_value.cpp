#include "coldtrace/ntfs/history/file_value.hpp"

#include "coldtrace/ntfs/structures/extended_attributes.hpp"

namespace coldtrace::ntfs {
namespace {

std::vector<u16> units_of(const StoredText& text) {
  std::vector<u16> units(text.units());
  for (std::size_t i = 0; i < units.size(); ++i) units[i] = text.unit(i);
  return units;
}

std::vector<StreamValue> values_of(const FileRow& row, const std::vector<StreamRow>& streams) {
  std::vector<StreamValue> values;
  values.reserve(streams.size());
  for (const auto& stream : streams) {
    const auto fixups = row.fixups_of(stream);
    StreamValue value{.type = stream.type,
                      .name = units_of(stream.name),
                      .id = stream.id,
                      .resident = stream.resident,
                      .compressed = stream.compressed,
                      .encrypted = stream.encrypted,
                      .sparse = stream.sparse,
                      .size = stream.size,
                      .allocated = stream.allocated,
                      .valid = stream.valid,
                      .resident_offset = stream.resident_offset,
                      .fixups = {fixups.begin(), fixups.end()},
                      .pieces = {}};
    for (const auto& extent : row.extents_of(stream))
      value.pieces.push_back({extent.vcn, extent.clusters, extent.lcn});
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace

FileValue to_value(const FileRow& row) {
  const auto& information = row.facts.information;
  FileValue value{
      .path = row.exact_path(),
      .name = units_of(row.name),
      .short_name = row.short_name ? units_of(row.short_name->name) : std::vector<u16>{},
      .file = row.source->file,
      .parent = row.file_name ? row.file_name->parent : row.source->parent,
      .state = row.source->state,
      .directory = row.facts.directory,
      .links = row.links,
      .dos_attributes = {},
      .security_id = {},
      .usn = {},
      .information = {},
      .file_name = {},
      .owner_sid = std::string{row.owner_sid},
      .object_id = row.object_id,
      .reparse_tag = row.reparse_tag,
      .reparse_target = row.reparse_target,
      .extended_attributes = {},
      .streams = values_of(row, row.streams),
      .other_streams = values_of(row, row.other_streams),
  };
  if (information) {
    value.dos_attributes = information->dos_attributes;
    value.security_id = information->security_id;
    value.usn = information->usn;
    value.information = information->times;
  }
  if (row.file_name) value.file_name = row.file_name->times;
  ExtendedAttributeReader entries{row.extended_attributes};
  while (const auto entry = entries.next())
    value.extended_attributes.emplace_back(entry->name, entry->value.size());
  return value;
}

}  // namespace coldtrace::ntfs
