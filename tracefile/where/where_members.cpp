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
    "header.processor_time",
    "message",
    "file",
};
static_assert(!names.back().empty());

constexpr where::WhereMemberTypes as_text{.text = true};
constexpr where::WhereMemberTypes as_number{.number = true};
constexpr where::WhereMemberTypes as_guid{.guid = true};
constexpr where::WhereMemberTypes as_object{};  // only whether it is there

struct LineMember {
  std::string_view name;
  where::WhereMemberTypes types;
};

// Others that lines of events have (docs/schema/trace.schema.json); with a path the members of
// objects that have no names of a trace's own.
constexpr LineMember line_members[] = {
    {"type", as_text},
    {"time_quality", as_text},
    {"thread_source", as_text},
    {"process_utf16", as_text},
    {"schema_file", as_text},
    {"schema_file_version", as_text},
    {"schema_buffer", as_number},
    {"schema_version", as_number},
    {"raw_reason", as_text},
    {"payload", as_text},
    {"trailing", as_text},
    {"fields", as_object},
    {"header", as_object},
    {"extended", as_object},
    {"resolved", as_object},
    {"resolved.stack", as_text},
    {"resolved.stack_utf16", as_text},
    {"names", as_object},
    {"names.task", as_text},
    {"names.opcode", as_text},
    {"names.level", as_text},
    {"names.channel", as_text},
    {"names.keywords", as_text},
    {"stack.address", {.number = true, .text = true}},
    {"stack.module", as_text},
    {"stack.module_utf16", as_text},
    {"stack.offset", {.number = true, .text = true}},
    {"stack.function", as_text},
    {"stack.function_utf16", as_text},
    {"stack.source", as_text},
    {"stack.tier", as_text},
    {"stack.part", as_text},
    {"message_pdb", as_object},
    {"message_pdb.name", as_text},
    {"message_pdb.guid", as_guid},
    {"message_pdb.age", as_number},
    {"trace_message", as_object},
    {"trace_message.component", as_text},
    {"trace_message.source_file", as_text},
    {"trace_message.function", as_text},
    {"trace_message.level", as_text},
    {"trace_message.flags", as_text},
    {"trace_control", as_object},
    {"trace_control.code", as_number},
    {"trace_control.name", as_text},
    {"trace_control.version", as_text},
    {"trace_control.outcome", as_text},
    {"trace_control.statuses", as_object},
    {"trace_control.statuses.name", as_text},
    {"trace_control.statuses.value", as_number},
    {"trace_control.check", as_text},
    {"trace_control.stated", {.boolean = true}},
    {"etw", as_object},
    {"etw.provider", as_object},
    {"etw.provider.guid", as_guid},
    {"etw.provider.name", as_text},
    {"etw.name", as_text},
    {"etw.id", as_number},
    {"etw.opcode", as_number},
    {"etw.version", as_number},
    {"etw.pid", as_number},
    {"etw.tid", as_number},
    {"etw.fields", as_object},
    {"etw.message", as_text},
    {"etw.decoded", as_text},
};

constexpr auto line_names = [] {
  std::array<std::string_view, std::size(line_members)> all;
  std::transform(std::begin(line_members), std::end(line_members), all.begin(),
                 [](const LineMember& member) { return member.name; });
  return all;
}();

}  // namespace

std::span<const std::string_view> where_member_names() {
  return names;
}

std::span<const std::string_view> line_member_names() {
  return line_names;
}

std::string_view line_member_in(const WhereExpression& where) {
  for (const auto& test : where.tests)
    if (member_of(test) == WhereMember::line) return test.shown;
  return {};
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
         member != WhereMember::decoded && member != WhereMember::message &&
         member != WhereMember::line;
}

std::optional<WhereMember> find_where_member(std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<WhereMember>(found - names.begin());
}

std::optional<where::WhereMemberTypes> find_line_member(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(line_members), std::end(line_members),
                   [&](const LineMember& member) { return member.name == name; });
  return found == std::end(line_members) ? std::nullopt : std::optional{found->types};
}

}  // namespace coldtrace::tracefile
