#include "tracefile/where/where_members.hpp"

#include <algorithm>
#include <array>

namespace coldtrace::tracefile {
namespace {

// In the order of WhereMember.
constexpr std::array<std::string_view, static_cast<std::size_t>(WhereMember::field)> names = {
    "time",
    "timestamp",
    "cpu",
    "pid",
    "tid",
    "process",
    "provider",
    "provider.guid",
    "provider.name",
    "name",
    "id",
    "opcode",
    "version",
    "level",
    "keywords",
    "activity",
    "stack",
    "decoded",
    "header.type",
    "header.buffer",
    "header.offset",
    "header.size",
    "header.payload_size",
    "header.pointer_size",
    "header.channel",
    "header.task",
    "header.kernel_time",
    "header.user_time",
    "message",
    "file",
};
static_assert(!names.back().empty());

// Others that lines of events have.
constexpr std::array<std::string_view, 15> not_asked = {
    "type",        "thread_source", "time_quality", "names",   "schema_file", "schema_file_version",
    "resolved",    "etw",           "header",       "payload", "trailing",    "extended",
    "message_pdb", "trace_control", "trace_message"};

}  // namespace

std::span<const std::string_view> where_member_names() {
  return names;
}

where::WhereMemberTypes types_of(WhereMember member) {
  switch (member) {
    case WhereMember::time:
      return {.time = true, .since_start = true};
    case WhereMember::provider:
      return {.guid = true, .text = true};
    case WhereMember::provider_guid:
    case WhereMember::activity:
      return {.guid = true};
    case WhereMember::process:
    case WhereMember::provider_name:
    case WhereMember::name:
    case WhereMember::decoded:
    case WhereMember::header_type:
    case WhereMember::message:
    case WhereMember::file:
    case WhereMember::resolved:
      return {.text = true};
    case WhereMember::extended:
      return {.number = true, .guid = true, .text = true};
    case WhereMember::stack:
      return {.number = true, .text = true};
    case WhereMember::field:
      return {.number = true,
              .time = true,
              .guid = true,
              .text = true,
              .boolean = true,
              .since_start = true,
              .varied = true};
    default:
      return {.number = true};
  }
}

bool is_of_kind(WhereMember member) {
  switch (member) {
    case WhereMember::provider:
    case WhereMember::provider_guid:
    case WhereMember::provider_name:
    case WhereMember::name:
    case WhereMember::id:
    case WhereMember::version:
      return true;
    default:
      return false;
  }
}

bool is_of_fields(WhereMember member) {
  return member == WhereMember::field || member == WhereMember::resolved;
}

bool is_of_header(WhereMember member) {
  return !is_of_kind(member) && !is_of_fields(member) && member != WhereMember::stack &&
         member != WhereMember::decoded && member != WhereMember::message;
}

std::optional<WhereMember> find_where_member(std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<WhereMember>(found - names.begin());
}

bool is_line_member(std::string_view name) {
  return find_where_member(name) ||
         std::find(not_asked.begin(), not_asked.end(), name) != not_asked.end();
}

}  // namespace coldtrace::tracefile
