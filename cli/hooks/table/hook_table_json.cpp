#include "cli/command/version.hpp"
#include "cli/hooks/hook_json.hpp"
#include "cli/hooks/service_table_json.hpp"
#include "cli/hooks/table/hook_table_formats.hpp"
#include "cli/hooks/table/member_json.hpp"
#include "cli/hooks/trace_plan.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::HookTable;

std::optional<u32> number_of(std::optional<pe::Rva> rva) {
  return rva ? std::optional{value(*rva)} : std::nullopt;
}

void write_service(JsonWriter& json, const syscall_map::HookService& service) {
  json.begin_object()
      .field("number", service.number)
      .field("table", to_string(service.table))
      .field("names", FileTexts{service.names})
      .field("image", service.image ? std::optional{to_string(*service.image)} : std::nullopt)
      .field("target", number_of(service.target))
      .field("argument_bytes", service.argument_bytes)
      .field("stack_argument_bytes", service.stack_argument_bytes)
      .field("name_hash", service.name_hash)
      .field("confidence", to_string(service.confidence))
      .field("verified", service.verified);
  write_evidence(json, service.evidence);
  json.end_object();
}

void write_service_table(JsonWriter& json, const syscall_map::HookServiceTable& located) {
  json.begin_object().field("image", to_string(located.image));
  write_service_table_fields(json, located.table);
  json.key("entries").begin_array();
  for (std::size_t i = 0; i < located.table.entries.size(); ++i) {
    json.begin_object();
    write_table_entry_fields(json, located.table, i);
    json.end_object();
  }
  json.end_array().end_object();
}

void write_build(JsonWriter& json, const HookTable& build) {
  json.begin_object().key("images").begin_array();
  for (const auto& image : build.images) {
    json.begin_object()
        .field("role", to_string(image.role))
        .field("path", MaybeText{image.path})
        .key("identity");
    write_identity(json, {image.identity, image.sha256});
    json.key("findings");
    write_findings(json, image.findings);
    json.end_object();
  }
  json.end_array().key("services").begin_array();
  for (const auto& service : build.services) write_service(json, service);
  json.end_array().key("service_tables").begin_array();
  for (const auto& table : build.service_tables) write_service_table(json, table);
  json.end_array().key("services_tab");
  if (build.services_tab)
    write_services_tab(json, *build.services_tab);
  else
    json.value(nullptr);
  write_thread_switching(json, build.context_switch, build.thread_offsets,
                         build.supported_interfaces);
  json.key("members").begin_array();
  for (const auto& member : build.members) write_member(json, member);
  json.end_array().key("trace_points");
  write_trace_points(json, build.trace_points);
  json.key("findings");
  write_findings(json, build.findings);
  json.end_object();
}

}  // namespace

void write_member(JsonWriter& json, const syscall_map::MemberValue& member) {
  json.begin_object()
      .field("name", member.name)
      .field("kind", to_string(member.kind))
      .field("optional", member.optional)
      .field("expression", member.value ? std::optional{member.expression} : std::nullopt);
  if (member.value && member.negative)
    json.field("value", static_cast<i64>(*member.value));
  else
    json.field("value", member.value);
  json.field("size", member.size)
      .field("bit_position", member.bit_position)
      .field("bit_length", member.bit_length)
      .key("sources")
      .begin_array();
  if (member.from_pdb) json.value("pdb");
  if (member.from_code) json.value("code");
  if (member.inferred) json.value("inferred");
  json.end_array().field("confidence",
                         member.value ? std::optional{to_string(member.confidence)} : std::nullopt);
  write_evidence(json, member.evidence);
  json.end_object();
}

void write_hook_table_json(Output& output, Int64 int64, const HookTableDocument& document) {
  JsonWriter json{output, int64};
  json.begin_object().field("schema", "coldtrace.hook-table/1").field("tool", tool_version);
  json.key("builds").begin_array();
  for (const auto& build : document.builds) write_build(json, build);
  json.end_array().key("unpaired").begin_array();
  for (const auto& [file, reason] : document.unpaired) {
    json.begin_object()
        .field("path", FileText{file.path})
        .field("role", to_string(file.role))
        .key("identity");
    write_identity(json, {file.identity, std::nullopt});
    json.field("reason", reason).end_object();
  }
  json.end_array().key("findings");
  write_findings(json, document.findings);
  json.end_object().end_document();
}

}  // namespace coldtrace::cli
