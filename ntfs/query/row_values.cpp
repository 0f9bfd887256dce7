#include "coldtrace/ntfs_query/row_values.hpp"

#include <span>

#include <fmt/format.h>

#include "coldtrace/core/hex.hpp"
#include "coldtrace/core/printable.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/structures/dos_attributes.hpp"
#include "coldtrace/ntfs/structures/extended_attributes.hpp"
#include "coldtrace/ntfs/structures/reparse_point.hpp"

namespace coldtrace::ntfs {
namespace {

using See = FileValues::See;

void number(u64 value, const See& see) {
  see({.number = where::Number::of(value)});
}

template <class T>
void number(const std::optional<T>& value, const See& see) {
  if (value) number(u64{*value}, see);
}

void text(std::string_view value, const See& see) {
  see({.text = value});
}

void flag(bool value, const See& see) {
  see({.boolean = value});
}

// A stored 0 is none.
void time(core::FileTime value, const See& see) {
  if (value.ticks != 0) see({.time = value});
}

core::FileTime Times::*time_of(unsigned which) {
  constexpr std::array members = {&Times::created, &Times::modified, &Times::changed,
                                  &Times::accessed};
  return members[which % members.size()];
}

FileMember as_stream_member(FileMember other) {
  constexpr auto between = static_cast<unsigned>(FileMember::other_name) -
                           static_cast<unsigned>(FileMember::stream_name);
  return static_cast<FileMember>(static_cast<unsigned>(other) - between);
}

}  // namespace

void RowValues::each(FileMember member, const See& see) {
  using M = FileMember;
  if (member <= M::extension) return name(member, see);
  if (member == M::short_name || member == M::short_name_utf16) return short_name(member, see);
  if (member <= M::links) return place(member, see);
  if (member >= M::created && member <= M::index_accessed) return times(member, see);
  if (member >= M::entry_offset && member <= M::entry_copies) return entry(member, see);
  if (member >= M::stream_name && member <= M::stream_offset)
    return streams(row_->streams, member, see);
  if (member >= M::other_name && member <= M::other_type)
    return streams(row_->other_streams, member, see);
  metadata(member, see);
}

void RowValues::name(FileMember member, const See& see) {
  const auto& row = *row_;
  if (row.name.empty()) return;
  text_.clear();
  if (member == FileMember::path || member == FileMember::path_utf16) {
    const bool is_valid = row.append_path(text_);
    if (member == FileMember::path) return text(text_, see);
    if (!is_valid) text(to_utf16_hex(row.exact_path()), see);
    return;
  }
  const bool valid = append_utf8(text_, row.name);
  if (member == FileMember::name) return text(text_, see);
  if (member == FileMember::extension) {
    if (const auto extension = extension_of(text_)) text(*extension, see);
    return;
  }
  if (!valid) text(to_utf16_hex(row.name), see);
}

void RowValues::short_name(FileMember member, const See& see) {
  if (row_->short_name == nullptr) return;
  const auto& name = row_->short_name->name;
  text_.clear();
  const bool is_valid = append_utf8(text_, name);
  if (member == FileMember::short_name) return text(text_, see);
  if (!is_valid) text(to_utf16_hex(name), see);
}

void RowValues::place(FileMember member, const See& see) {
  const auto& row = *row_;
  const auto& source = *row.source;
  const auto parent = row.file_name != nullptr ? row.file_name->parent : source.parent;
  switch (member) {
    case FileMember::record:
      if (row.file_known()) number(source.file.record, see);
      return;
    case FileMember::sequence:
      if (row.file_known()) number(source.file.sequence, see);
      return;
    case FileMember::parent_record:
      if (!row.name.empty()) number(parent.record, see);
      return;
    case FileMember::parent_sequence:
      if (!row.name.empty()) number(parent.sequence, see);
      return;
    case FileMember::state:
      return text(to_string(source.state), see);
    case FileMember::directory:
      if (source.has_record) flag(row.facts.directory, see);
      return;
    default:
      if (source.has_record) number(row.links, see);
  }
}

void RowValues::times(FileMember member, const See& see) const {
  const auto& row = *row_;
  const Times* const sets[] = {row.facts.information ? &row.facts.information->times : nullptr,
                               row.file_name != nullptr ? &row.file_name->times : nullptr,
                               row.index ? &*row.index : nullptr};
  const auto which = static_cast<unsigned>(member) - static_cast<unsigned>(FileMember::created);
  constexpr unsigned in_a_set = 4;
  for (unsigned set = 0; set < std::size(sets); ++set) {
    const bool asked = which < in_a_set || which / in_a_set == set + 1;
    if (asked && sets[set] != nullptr) time(sets[set]->*time_of(which), see);
  }
}

void RowValues::metadata(FileMember member, const See& see) {
  const auto& row = *row_;
  const auto& information = row.facts.information;
  switch (member) {
    case FileMember::attributes:
      if (information) attributes(information->dos_attributes, see);
      return;
    case FileMember::owner_sid:
      if (!row.owner_sid.empty()) text(row.owner_sid, see);
      return;
    case FileMember::security_id:
      if (information) number(information->security_id, see);
      return;
    case FileMember::usn:
      if (information) number(information->usn, see);
      return;
    case FileMember::object_id:
      if (row.object_id) see({.guid = row.object_id});
      return;
    case FileMember::reparse_tag:
      return number(row.reparse_tag, see);
    case FileMember::reparse_kind:
      if (row.reparse_tag)
        if (const auto kind = reparse_tag_name(*row.reparse_tag); !kind.empty()) text(kind, see);
      return;
    case FileMember::reparse_target:
    case FileMember::reparse_target_utf16:
    case FileMember::reparse_target_bytes:
      return reparse_target(member, see);
    case FileMember::ea_name:
    case FileMember::ea_name_bytes:
    case FileMember::ea_size:
      return extended_attributes(member, see);
    case FileMember::record_offset:
      return number(row.record_offset, see);
    case FileMember::size:
      if (const auto* content = row.content()) number(content->size, see);
      return;
    case FileMember::finding_code:
      for (const auto& finding : row.findings) text(finding.code.view(), see);
      return;
    case FileMember::finding_severity:
      for (const auto& finding : row.findings) text(finding.warning ? "warning" : "info", see);
      return;
    case FileMember::finding_text:
      for (const auto& finding : row.findings) text(core::distinct_text(finding.text), see);
      return;
    case FileMember::zone:
    case FileMember::zone_referrer_url:
    case FileMember::zone_host_url:
    case FileMember::zone_resident:
      if (row.zone_id) zone_id(*row.zone_id, member, see);
      return;
    case FileMember::deleted_time:
    case FileMember::deleted_usn:
      return deleted_at(member, see);
    case FileMember::partition_number:
      if (number_ != 0) number(number_, see);
      return;
    case FileMember::partition_shadow:
      if (shadow_ != 0) number(shadow_, see);
      return;
    default:
      number(offset_, see);
  }
}

void RowValues::reparse_target(FileMember member, const See& see) const {
  if (!row_->reparse_tag || !row_->reparse_target) return;
  const auto& target = *row_->reparse_target;
  const bool is_bytes = has_byte_target(*row_->reparse_tag);
  if (member == FileMember::reparse_target)
    return text(is_bytes ? core::to_valid_utf8(target) : core::shown_text(target), see);
  if (core::is_valid_utf8(target) || is_bytes != (member == FileMember::reparse_target_bytes))
    return;
  text(is_bytes ? core::to_hex(std::as_bytes(std::span{target})) : core::to_utf16_hex(target), see);
}

void RowValues::deleted_at(FileMember member, const See& see) const {
  const auto deleted = deleted_ != nullptr ? deleted_->find(*row_->source) : std::nullopt;
  if (!deleted) return;
  if (member == FileMember::deleted_usn) return number(deleted->usn, see);
  see({.time = deleted->time});
}

void RowValues::zone_id(const ZoneIdentifier& zone, FileMember member, const See& see) {
  if (member == FileMember::zone) return number(zone.zone, see);
  if (member == FileMember::zone_resident) return flag(zone.resident, see);
  const auto& url = member == FileMember::zone_host_url ? zone.host_url : zone.referrer_url;
  if (url) text(core::to_valid_utf8(*url), see);
}

void RowValues::entry(FileMember member, const See& see) {
  const auto& entry = row_->source->entry;
  if (!entry) return;
  switch (member) {
    case FileMember::entry_offset:
      return number(entry->offset, see);
    case FileMember::entry_size:
      return number(entry->size, see);
    case FileMember::entry_allocated:
      return number(entry->allocated, see);
    case FileMember::entry_attributes:
      return attributes(entry->attributes, see);
    default:
      number(entry->copies, see);
  }
}

void RowValues::attributes(u32 bits, const See& see) {
  const auto [known, added] = attributes_.try_emplace(bits);
  if (added) known->second = dos_attribute_names(bits);
  for (const auto& name : known->second) text(name, see);
}

void RowValues::extended_attributes(FileMember member, const See& see) const {
  ExtendedAttributeReader entries{row_->extended_attributes};
  while (const auto entry = entries.next()) {
    if (member == FileMember::ea_size)
      number(entry->value.size(), see);
    else if (member == FileMember::ea_name)
      text(core::to_valid_utf8(entry->name), see);
    else if (!core::is_valid_utf8(entry->name))
      text(core::to_hex(std::as_bytes(std::span{entry->name})), see);
  }
}

void RowValues::streams(const std::vector<StreamRow>& streams, FileMember member, const See& see) {
  for (const auto& one : streams) {
    if (member == FileMember::other_type) {
      const auto type = to_string(one.type);
      text(type.empty() ? fmt::format("{:#x}", static_cast<u32>(one.type)) : std::string{type},
           see);
    } else {
      stream(one, member < FileMember::other_name ? member : as_stream_member(member), see);
    }
  }
}

void RowValues::stream(const StreamRow& stream, FileMember member, const See& see) {
  switch (member) {
    case FileMember::stream_name:
      if (stream.name.empty()) return;
      text_.clear();
      append_utf8(text_, stream.name);
      return text(text_, see);
    case FileMember::stream_name_utf16:
      text_.clear();
      if (!append_utf8(text_, stream.name)) text(to_utf16_hex(stream.name), see);
      return;
    case FileMember::stream_id:
      return number(stream.id, see);
    case FileMember::stream_resident:
      return flag(stream.resident, see);
    case FileMember::stream_resident_offset:
      return number(stream.resident_offset, see);
    case FileMember::stream_size:
      return number(stream.size, see);
    case FileMember::stream_allocated:
      return number(stream.allocated, see);
    case FileMember::stream_valid:
      return number(stream.valid, see);
    case FileMember::stream_compressed:
      return flag(stream.compressed, see);
    case FileMember::stream_encrypted:
      return flag(stream.encrypted, see);
    case FileMember::stream_sparse:
      return flag(stream.sparse, see);
    default:
      extents(stream, member, see);
  }
}

void RowValues::extents(const StreamRow& stream, FileMember member, const See& see) const {
  const auto& mft = snapshot_.volume().mft();
  for (const auto& extent : row_->extents_of(stream)) {
    switch (member) {
      case FileMember::stream_vcn:
        number(extent.vcn, see);
        break;
      case FileMember::stream_lcn:
        if (extent.lcn) number(static_cast<u64>(*extent.lcn), see);
        break;
      case FileMember::stream_clusters:
        number(extent.clusters, see);
        break;
      default:
        if (extent.lcn && !mft.extracted() && mft.clusters().contains(*extent.lcn, extent.clusters))
          number(mft.clusters().offset_of(*extent.lcn), see);
    }
  }
}

}  // namespace coldtrace::ntfs
