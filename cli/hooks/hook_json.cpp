#include "cli/hooks/hook_json.hpp"

#include <span>

#include "coldtrace/core/hex.hpp"

namespace coldtrace::cli {
namespace {

std::optional<u32> number(std::optional<pe::Rva> rva) {
  if (!rva) return std::nullopt;
  return value(*rva);
}

std::string hex(const std::vector<u8>& bytes) {
  return core::to_hex(std::as_bytes(std::span{bytes}));
}

void write_plan(JsonWriter& json, const syscall_map::PatchPlan& plan) {
  json.begin_object().key("instructions").begin_array();
  for (const auto& instruction : plan.instructions)
    json.begin_object()
        .field("rva", value(instruction.rva))
        .field("length", instruction.length)
        .field("bytes", hex(instruction.bytes))
        .field("text", instruction.text)
        .field("relative_target", number(instruction.relative_target))
        .field("grows", instruction.grows)
        .end_object();
  json.end_array().key("incoming").begin_array();
  for (const auto& branch : plan.incoming)
    json.begin_object()
        .field("from", value(branch.from))
        .field("to", value(branch.to))
        .field("text", branch.text)
        .field("outside", branch.outside)
        .field("proved", branch.proved)
        .end_object();
  json.end_array()
      .field("padding_before", plan.padding_before)
      .field("needs_writable_mapping", plan.needs_writable_mapping)
      .key("options")
      .begin_array();
  for (const auto& option : plan.options) {
    json.begin_object().field("method", to_string(option.method)).key("sites").begin_array();
    for (const auto site : option.sites) json.value(value(site));
    json.end_array()
        .field("written", option.written)
        .field("copied", option.copied)
        .field("safe", option.safe);
    json.field("reasons", option.reasons);
    json.end_object();
  }
  json.end_array();
  json.field("notes", plan.notes);
  json.end_object();
}

void write_candidate(JsonWriter& json, const syscall_map::ContextSwitch& candidate) {
  json.begin_object()
      .field("name", candidate.name)
      .field("rva", value(candidate.rva))
      .field("file_offset", candidate.file_offset)
      .field("address", candidate.address)
      .field("condition", to_string(candidate.condition))
      .field("first_bytes", hex(candidate.first_bytes))
      .field("end", number(candidate.end))
      .field("kernel_stack_offset", candidate.kernel_stack_offset)
      .field("self_patched", candidate.self_patched)
      .field("confidence", to_string(candidate.confidence))
      .field("verified", candidate.verified);
  json.key("callers").begin_array();
  for (const auto& caller : candidate.callers) {
    json.begin_object().field("rva", value(caller.rva)).field("function", number(caller.function));
    json.field("name", MaybeText{caller.name});
    json.end_object();
  }
  json.end_array();
  json.field("evidence", candidate.evidence);
  json.key("plan");
  write_plan(json, candidate.plan);
  json.end_object();
}

// {"candidates":[...],"reasons":[...]}
void write_context_switch(JsonWriter& json, const syscall_map::ContextSwitchSearch& search) {
  json.begin_object().key("candidates").begin_array();
  for (const auto& candidate : search.candidates) write_candidate(json, candidate);
  json.end_array();
  json.field("reasons", search.reasons);
  json.end_object();
}

// [{"structure","field","offset",...}]
void write_thread_offsets(JsonWriter& json, const syscall_map::ThreadOffsets& offsets) {
  json.begin_array();
  for (const auto& field : offsets.fields) {
    json.begin_object()
        .field("structure", field.structure)
        .field("field", field.field)
        .field("offset", field.offset)
        .field("confidence", to_string(field.confidence))
        .field("verified", field.verified);
    json.field("evidence", field.evidence);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_supported_interfaces(JsonWriter& json,
                                const std::vector<syscall_map::SupportedInterface>& interfaces) {
  json.begin_array();
  for (const auto& interface : interfaces) {
    json.begin_object()
        .field("name", interface.name)
        .field("purpose", interface.purpose)
        .field("exported", interface.exported)
        .field("imported", interface.imported)
        .field("rva", number(interface.rva));
    json.field("note", MaybeText{interface.note});
    json.end_object();
  }
  json.end_array();
}

void write_thread_switching(JsonWriter& json, const syscall_map::ContextSwitchSearch& search,
                            const syscall_map::ThreadOffsets& offsets,
                            const std::vector<syscall_map::SupportedInterface>& interfaces) {
  json.key("context_switch");
  write_context_switch(json, search);
  json.key("thread_offsets");
  write_thread_offsets(json, offsets);
  json.key("supported_interfaces");
  write_supported_interfaces(json, interfaces);
}

}  // namespace coldtrace::cli
