#include "coldtrace/ntfs_query/file_members.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "coldtrace/core/nearest_names.hpp"

namespace coldtrace::ntfs {
namespace {

// In the order of FileMember.
constexpr std::array<std::string_view, static_cast<std::size_t>(FileMember::partition_shadow) + 1>
    names = {"path",
             "path_utf16",
             "name",
             "name_utf16",
             "extension",
             "record",
             "sequence",
             "parent.record",
             "parent.sequence",
             "state",
             "directory",
             "links",
             "short_name",
             "short_name_utf16",
             "attributes",
             "created",
             "modified",
             "changed",
             "accessed",
             "si.created",
             "si.modified",
             "si.changed",
             "si.accessed",
             "fn.created",
             "fn.modified",
             "fn.changed",
             "fn.accessed",
             "index.created",
             "index.modified",
             "index.changed",
             "index.accessed",
             "owner_sid",
             "security_id",
             "usn",
             "object_id",
             "reparse.tag",
             "reparse.kind",
             "reparse.target",
             "reparse.target_utf16",
             "reparse.target_bytes",
             "ea.name",
             "ea.name_bytes",
             "ea.size",
             "record_offset",
             "entry.offset",
             "entry.size",
             "entry.allocated",
             "entry.attributes",
             "entry.copies",
             "size",
             "streams.name",
             "streams.name_utf16",
             "streams.id",
             "streams.resident",
             "streams.resident_offset",
             "streams.size",
             "streams.allocated",
             "streams.valid",
             "streams.compressed",
             "streams.encrypted",
             "streams.sparse",
             "streams.extents.vcn",
             "streams.extents.lcn",
             "streams.extents.clusters",
             "streams.extents.offset",
             "other_streams.name",
             "other_streams.name_utf16",
             "other_streams.id",
             "other_streams.resident",
             "other_streams.resident_offset",
             "other_streams.size",
             "other_streams.allocated",
             "other_streams.valid",
             "other_streams.compressed",
             "other_streams.encrypted",
             "other_streams.sparse",
             "other_streams.extents.vcn",
             "other_streams.extents.lcn",
             "other_streams.extents.clusters",
             "other_streams.extents.offset",
             "other_streams.type",
             "findings.code",
             "findings.severity",
             "findings.text",
             "zone_id.zone",
             "zone_id.referrer_url",
             "zone_id.host_url",
             "zone_id.resident",
             "deleted_at.time",
             "deleted_at.usn",
             "partition.number",
             "partition.offset",
             "partition.shadow"};
static_assert(!names.back().empty());

class FileVocabulary final : public where::WhereVocabulary {
 public:
  core::Expected<where::NamedMember, std::string> find(std::string_view path,
                                                       std::vector<std::string>) const override {
    if (const auto member = find_file_member(path))
      return where::NamedMember{static_cast<unsigned>(*member), {}, types_of(*member)};
    return core::fail(fmt::format("no member '{}'{}", path, core::did_you_mean(path, names)));
  }
};

}  // namespace

std::string_view to_string(FileMember member) {
  return names[static_cast<std::size_t>(member)];
}

std::span<const std::string_view> file_member_names() {
  return names;
}

std::optional<FileMember> find_file_member(std::string_view name) {
  if (name == "zone_id") return FileMember::zone;
  if (name == "deleted_at") return FileMember::deleted_time;
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<FileMember>(found - names.begin());
}

where::WhereMemberTypes types_of(FileMember member) {
  if (member >= FileMember::created && member <= FileMember::index_accessed) return {.time = true};
  if (member == FileMember::deleted_time) return {.time = true};
  switch (member) {
    case FileMember::path:
    case FileMember::path_utf16:
    case FileMember::name:
    case FileMember::name_utf16:
    case FileMember::extension:
    case FileMember::state:
    case FileMember::short_name:
    case FileMember::short_name_utf16:
    case FileMember::attributes:
    case FileMember::owner_sid:
    case FileMember::reparse_kind:
    case FileMember::reparse_target:
    case FileMember::reparse_target_utf16:
    case FileMember::reparse_target_bytes:
    case FileMember::ea_name:
    case FileMember::ea_name_bytes:
    case FileMember::entry_attributes:
    case FileMember::stream_name:
    case FileMember::stream_name_utf16:
    case FileMember::other_name:
    case FileMember::other_name_utf16:
    case FileMember::other_type:
    case FileMember::finding_code:
    case FileMember::finding_severity:
    case FileMember::finding_text:
    case FileMember::zone_referrer_url:
    case FileMember::zone_host_url:
      return {.text = true};
    case FileMember::object_id:
      return {.guid = true};
    case FileMember::directory:
    case FileMember::stream_resident:
    case FileMember::stream_compressed:
    case FileMember::stream_encrypted:
    case FileMember::stream_sparse:
    case FileMember::other_resident:
    case FileMember::other_compressed:
    case FileMember::other_encrypted:
    case FileMember::other_sparse:
    case FileMember::zone_resident:
      return {.boolean = true};
    default:
      return {.number = true};
  }
}

std::optional<std::string_view> extension_of(std::string_view name) {
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == name.size()) return std::nullopt;
  return name.substr(dot + 1);
}

core::Expected<where::WhereExpression, core::TextError> parse_file_where(std::string_view text) {
  auto expression = where::parse_where(text, FileVocabulary{});
  if (!expression) return expression;
  // A stream that says nothing of a zone is there all the same.
  for (auto& test : expression->tests)
    if (test.relation == where::WhereTest::Relation::exists && test.shown == "zone_id")
      test.member = static_cast<unsigned>(FileMember::zone_resident);
  return expression;
}

}  // namespace coldtrace::ntfs
