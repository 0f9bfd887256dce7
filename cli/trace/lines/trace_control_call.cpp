#include "cli/trace/lines/trace_control_call.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/output/json_text.hpp"
#include "coldtrace/nt_trace_control/trace_control_code.hpp"
#include "coldtrace/syscall-map/stubs/name_hash.hpp"

namespace coldtrace::cli {

bool ControlCallFields::is_trace_control(std::string_view service) {
  return service == "NtTraceControl" || service == "ZwTraceControl";
}

void ControlCallFields::start(std::string_view event_name, u8 pointer_size) {
  call_ = {};
  call_.pointer_size = pointer_size;
  arguments_ = 0;
  by_parameters_ = is_call_ = is_trace_control(event_name);
}

void ControlCallFields::add_name_hash(u32 hash) {
  static const u32 trace_control = syscall_map::hash_name("TraceControl");
  is_call_ |= hash == trace_control;
}

void ControlCallFields::add_argument(u64 value) {
  if (arguments_ < call_.arguments.size()) call_.arguments[arguments_++] = value;
}

void ControlCallFields::add_parameter(std::string_view name, u64 value) {
  const auto& names = tracefile::LoggedControlCall::parameters;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end())
    call_.arguments[static_cast<std::size_t>(found - names.begin())] = value;
}

void append_control_call(core::TextBuffer& json, const tracefile::LoggedControlCall& call,
                         std::optional<tracefile::KernelVersion> version) {
  json.append(",\"trace_control\":");
  const auto code = call.code();
  if (!code) {
    json.append("null");
    return;
  }
  const auto* row = tracefile::find_control_code(*code);
  json.append("{\"code\":");
  json.append_decimal(u64{*code});
  json.append(",\"name\":");
  if (row)
    append_json_text(json, row->name);
  else
    json.append("null");
  if (!version) {
    json.append(
        ",\"version\":null,\"outcome\":null,\"statuses\":[],\"check\":null,"
        "\"stated\":false}");
    return;
  }
  const auto expected = expected_status(call, *version);
  json.append(fmt::format(",\"version\":\"{}\",\"outcome\":\"{}\",\"statuses\":[",
                          to_string(*version), to_string(expected.outcome)));
  for (std::size_t i = 0; i < expected.statuses.size(); ++i)
    json.append(fmt::format("{}{{\"name\":\"{}\",\"value\":{}}}", i == 0 ? "" : ",",
                            to_string(expected.statuses[i]),
                            static_cast<u32>(expected.statuses[i])));
  json.append("],\"check\":");
  if (expected.check)
    append_json_text(json, expected.check->text);
  else
    json.append("null");
  json.append(expected.stated ? ",\"stated\":true}" : ",\"stated\":false}");
}

}  // namespace coldtrace::cli
