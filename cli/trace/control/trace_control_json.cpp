#include <algorithm>

#include "cli/command/version.hpp"
#include "cli/trace/control/trace_control.hpp"
#include "cli/trace/status.hpp"

namespace coldtrace::cli {
namespace {

using tracefile::CheckKind;
using tracefile::ControlCheck;
using tracefile::ControlCode;
using tracefile::ControlLayout;
using tracefile::ControlType;
using tracefile::KernelVersion;
using tracefile::KernelVersions;

bool wanted(KernelVersions versions, std::optional<KernelVersion> version) {
  return !version || versions.contains(*version);
}

void write_versions(JsonWriter& json, KernelVersions versions) {
  json.key("versions")
      .begin_object()
      .field("first", to_string(versions.first))
      .field("last", to_string(versions.last))
      .end_object();
}

std::string_view decided_by(CheckKind kind) {
  switch (kind) {
    case CheckKind::double_buffer:
    case CheckKind::state:
      return "system";
    case CheckKind::kernel_arguments:
    case CheckKind::missing_list:
      return "missing";
    case CheckKind::number_at_least:
    case CheckKind::number_has_bits:
    case CheckKind::number_in_input:
    case CheckKind::entries:
    case CheckKind::security_provider:
    case CheckKind::boolean:
      return "input";
    default:
      return "arguments";
  }
}

void write_check(JsonWriter& json, const ControlCheck& check, std::string_view section) {
  json.begin_object()
      .field("section", check.section.empty() ? section : check.section)
      .field("text", check.text)
      .field("decided_by", decided_by(check.kind))
      .field("stated", check.stated);
  write_versions(json, check.versions);
  json.key("statuses");
  write_statuses(json, check.failure());
  json.end_object();
}

// Checks of all codes are those that apply to code 0, which no row has.
void write_checks(JsonWriter& json, u32 code, std::string_view section,
                  std::optional<KernelVersion> version) {
  json.begin_array();
  for (const auto& check : tracefile::control_checks()) {
    const bool general = check.first_code == 0;
    if (general == (code == 0) && code >= check.first_code && code <= check.last_code &&
        wanted(check.versions, version))
      write_check(json, check, section);
  }
  json.end_array();
}

// The name of a structure, which is the same in all versions.
std::string_view name_of(tracefile::ControlStructure structure) {
  for (const auto& layout : tracefile::control_layouts())
    if (layout.structure == structure) return layout.name.view();
  return {};
}

void write_buffer(JsonWriter& json, std::string_view key, std::string_view contract,
                  tracefile::ControlStructure structure) {
  json.key(key).begin_object();
  json.field("contract", MaybeText{contract});
  json.field("structure", MaybeText{name_of(structure)});
  json.end_object();
}

void write_code(JsonWriter& json, const ControlCode& code, std::optional<KernelVersion> version) {
  json.begin_object()
      .field("code", code.code)
      .field("name", code.name)
      .field("microsoft_name", code.microsoft_name);
  write_versions(json, code.versions);
  json.field("section", code.section).field("double_buffered", code.double_buffered);
  write_buffer(json, "input", code.input, code.input_structure);
  write_buffer(json, "output", code.output, code.output_structure);
  json.field("access", MaybeText{code.access});
  json.key("checks");
  write_checks(json, code.code, code.section, version);
  json.end_object();
}

void write_layout(JsonWriter& json, const ControlLayout& layout) {
  json.begin_object().field("name", layout.name.view()).field("size", layout.size);
  write_versions(json, layout.versions);
  json.field("source", layout.source).key("fields").begin_array();
  for (const auto& field : tracefile::control_fields()) {
    // A field belongs to the layouts of the versions that it shares with them.
    if (field.structure != layout.structure || field.versions.first > layout.versions.last ||
        field.versions.last < layout.versions.first)
      continue;
    json.begin_object()
        .field("name", field.name.view())
        .field("offset", field.offset)
        .field("type",
               field.type == ControlType::part ? name_of(field.inner) : to_string(field.type))
        .field("use", to_string(field.use));
    write_versions(json, field.versions);
    json.field("remark", MaybeText{field.remark});
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace

void write_statuses(JsonWriter& json, std::span<const tracefile::NtStatus> statuses) {
  json.begin_array();
  for (const auto status : statuses)
    write_status(json, static_cast<u32>(status), to_string(status));
  json.end_array();
}

void write_control_codes(JsonWriter& json, const std::vector<const ControlCode*>& codes,
                         std::optional<KernelVersion> version, const core::Findings& findings) {
  json.begin_object()
      .field("schema", "coldtrace.trace-control/1")
      .field("tool", tool_version)
      .field("document", tracefile::trace_control_document)
      .field("verified", tracefile::trace_control_verified);
  json.field("version", MaybeText{version ? to_string(*version) : ""});
  json.key("general_checks");
  write_checks(json, 0, {}, version);
  json.key("codes").begin_array();
  std::vector<const ControlLayout*> layouts;
  for (const auto* code : codes) {
    write_code(json, *code, version);
    for (const auto* layout : layouts_of(*code, version))
      if (std::find(layouts.begin(), layouts.end(), layout) == layouts.end())
        layouts.push_back(layout);
  }
  json.end_array().key("layouts").begin_array();
  for (const auto* layout : layouts) write_layout(json, *layout);
  json.end_array().key("findings");
  write_findings(json, findings);
  json.end_object().end_document();
}

}  // namespace coldtrace::cli
