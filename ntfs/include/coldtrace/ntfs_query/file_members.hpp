#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/where/where_expression.hpp"

namespace coldtrace::ntfs {

// The members of a file that an expression can use: those of its line in a snapshot, and what
// follows from them. In the order of the table in file_members.cpp.
enum class FileMember : unsigned {
  path,
  path_utf16,
  name,
  name_utf16,
  extension,
  record,
  sequence,
  parent_record,
  parent_sequence,
  state,
  directory,
  links,
  short_name,
  short_name_utf16,
  attributes,
  created,  // in any of the three sets of times
  modified,
  changed,
  accessed,
  si_created,
  si_modified,
  si_changed,
  si_accessed,
  fn_created,
  fn_modified,
  fn_changed,
  fn_accessed,
  index_created,
  index_modified,
  index_changed,
  index_accessed,
  owner_sid,
  security_id,
  usn,
  object_id,
  reparse_tag,
  reparse_kind,
  reparse_target,
  reparse_target_utf16,
  reparse_target_bytes,
  ea_name,
  ea_name_bytes,
  ea_size,
  record_offset,
  entry_offset,
  entry_size,
  entry_allocated,
  entry_attributes,
  entry_copies,
  size,
  stream_name,
  stream_name_utf16,
  stream_id,
  stream_resident,
  stream_resident_offset,
  stream_size,
  stream_allocated,
  stream_valid,
  stream_compressed,
  stream_encrypted,
  stream_sparse,
  stream_vcn,
  stream_lcn,
  stream_clusters,
  stream_offset,
  other_name,  // the same of other streams
  other_name_utf16,
  other_id,
  other_resident,
  other_resident_offset,
  other_size,
  other_allocated,
  other_valid,
  other_compressed,
  other_encrypted,
  other_sparse,
  other_vcn,
  other_lcn,
  other_clusters,
  other_offset,
  other_type,
  finding_code,
  finding_severity,
  finding_text,
  zone,  // from the contents of Zone.Identifier
  zone_referrer_url,
  zone_host_url,
  zone_resident,
  deleted_time,  // from a change journal
  deleted_usn,
  partition_number,
  partition_offset,
  partition_shadow,  // for a volume in a shadow copy
};

// As written: "streams.extents.lcn".
[[nodiscard]] std::string_view to_string(FileMember member);
[[nodiscard]] std::span<const std::string_view> file_member_names();
// "zone_id" and "deleted_at" mean their zone and time.
[[nodiscard]] std::optional<FileMember> find_file_member(std::string_view name);

// The values with which the member may be compared.
[[nodiscard]] where::WhereMemberTypes types_of(FileMember member);

// The part after the last dot of a name, if there is one.
[[nodiscard]] std::optional<std::string_view> extension_of(std::string_view name);
template <core::TemporaryText T>
std::optional<std::string_view> extension_of(T&&) = delete;

// Reads an expression that selects files; the first error ends it. "exists zone_id" asks for a
// member that each has.
core::Expected<where::WhereExpression, core::TextError> parse_file_where(std::string_view text);

}  // namespace coldtrace::ntfs
