#include "cli/command/version.hpp"
#include "cli/hooks/hook_json.hpp"
#include "cli/hooks/trace_plan.hpp"
#include "coldtrace/core/hex.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::TracePoint;

std::optional<u32> number_of(std::optional<pe::Rva> rva) {
  return rva ? std::optional{value(*rva)} : std::nullopt;
}

std::string hex_of(std::span<const u8> bytes) {
  return core::to_hex(std::as_bytes(bytes));
}

void write_instruction(JsonWriter& json, const TracePoint& point) {
  json.key("instruction");
  if (point.bytes.empty()) {
    json.value(nullptr);
    return;
  }
  const auto& emulation = point.emulation;
  json.begin_object()
      .field("length", point.bytes.size())
      .field("bytes", hex_of(point.bytes))
      .field("text", point.text)
      .key("relocations")
      .begin_array();
  for (const auto rva : point.relocations) json.value(value(rva));
  json.end_array()
      .field("mnemonic", emulation.mnemonic)
      .field("category", emulation.category)
      .field("prefix_bytes", emulation.prefix_bytes)
      .field("branch", to_string(emulation.branch))
      .field("target", number_of(emulation.target))
      .field("rip_relative", emulation.rip_relative)
      .field("reads_memory", emulation.reads_memory)
      .field("writes_memory", emulation.writes_memory)
      .field("moves_stack", emulation.moves_stack)
      .field("privileged", emulation.privileged)
      .field("emulator", to_string(emulation.emulator))
      .end_object();
}

void write_patch(JsonWriter& json, const TracePoint& point) {
  json.key("patch");
  if (!point.eligible() || point.bytes.empty()) {
    json.value(nullptr);
    return;
  }
  json.begin_object()
      .field("offset", 0)
      .field("old", hex_of(std::span{point.bytes}.first(1)))
      .field("new", hex_of(std::span{&syscall_map::int3, 1}))
      .end_object();
}

void write_point(JsonWriter& json, const TracePoint& point) {
  json.begin_object()
      .field("requested", point.requested)
      .field("source", point.rva ? std::optional{to_string(point.source)} : std::nullopt)
      .field("source_evidence", point.source_evidence)
      .field("rva", number_of(point.rva))
      .field("file_offset", point.file_offset)
      .field("address", point.address)
      .field("section", MaybeText{point.section});
  json.field("names", FileTexts{point.names});
  json.key("function");
  if (point.function)
    json.begin_object()
        .field("rva", value(*point.function))
        .field("name", MaybeText{point.function_name})
        .end_object();
  else
    json.value(nullptr);
  json.field("eligible", point.eligible()).key("refusals").begin_array();
  for (const auto& refusal : point.refusals)
    json.begin_object()
        .field("code", to_string(refusal.code))
        .field("text", refusal.text)
        .end_object();
  json.end_array().key("boundary").begin_object().field("state", to_string(point.boundary));
  json.field("evidence", point.evidence);
  json.end_object();
  write_instruction(json, point);
  write_patch(json, point);
  json.end_object();
}

}  // namespace

void write_trace_points(JsonWriter& json, const std::vector<TracePoint>& points) {
  json.begin_array();
  for (const auto& point : points) write_point(json, point);
  json.end_array();
}

void write_trace_plan_json(Output& output, Int64 int64, const TracePlan& plan) {
  JsonWriter json{output, int64};
  json.begin_object()
      .field("schema", "coldtrace.trace-plan/1")
      .field("tool", tool_version)
      .key("kernel")
      .begin_object()
      .field("path", FileText{plan.path})
      .field("pdb", text_or_null(plan.pdb))
      .key("identity");
  write_identity(json, plan.identity);
  json.end_object().key("ntdll");
  if (plan.ntdll.empty()) {
    json.value(nullptr);
  } else {
    json.begin_object().field("path", FileText{plan.ntdll}).key("findings");
    write_findings(json, plan.ntdll_findings);
    json.end_object();
  }
  json.key("facility")
      .begin_object()
      .field("state", to_string(plan.facility.state))
      .field("verified", plan.facility.verified);
  json.field("evidence", plan.facility.evidence);
  json.key("interfaces");
  write_supported_interfaces(json, plan.interfaces);
  json.end_object().key("points");
  write_trace_points(json, plan.points);
  json.key("drivers").begin_array();
  for (const auto& driver : plan.drivers) {
    json.begin_object().field("path", FileText{driver.path}).key("identity");
    write_identity(json, driver.identity);
    json.field("integrity_check", driver.check.integrity_check)
        .field("same_machine", driver.check.same_machine)
        .key("findings");
    write_findings(json, driver.findings);
    json.end_object();
  }
  json.end_array().key("findings");
  write_findings(json, plan.findings);
  json.end_object().end_document();
}

}  // namespace coldtrace::cli
