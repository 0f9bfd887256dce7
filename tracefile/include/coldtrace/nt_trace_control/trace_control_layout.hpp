#pragma once

#include <span>
#include <string_view>

#include "coldtrace/core/error.hpp"
#include "coldtrace/nt_trace_control/trace_control_version.hpp"

namespace coldtrace::tracefile {

// What NtTraceControl's buffers hold, and the structures that they consist of.
enum class ControlStructure : u8 {
  none,  // nothing, or bytes that no source describes
  wnode_header,
  logger_information,
  reference_clock,
  real_time_connect,
  activity_id,
  event_descriptor,
  wdi_scenario,
  real_time_disconnect,
  registration_header,
  registration,
  enable_notification,
  notification,
  private_notification,
  trace_enable_info,
  trace_enable_context,
  filter_descriptor,
  filter_header,
  logger_selection,
  notification_event,
  disallow_list,
  disallow_entry,
  descriptor_type,
};

// Type of a field of a buffer; little-endian.
enum class ControlType : u8 {
  u8,
  u16,
  u32,
  u64,
  i32,
  i64,
  guid,
  bytes,  // 16 that nothing describes
  part,   // a structure inside
};

// The role of a field in a call.
enum class ControlUse : u8 {
  input,
  output,
  both,
  unused,  // reserved, or not described
};

[[nodiscard]] std::string_view to_string(ControlType type);
[[nodiscard]] std::string_view to_string(ControlUse use);

// A structure, of one size from one version to another.
struct ControlLayout {
  ControlStructure structure;
  core::Name name;  // Microsoft's in capitals; else a description
  u16 size;         // of the fixed part
  KernelVersions versions;
  std::string_view source;
};

// A field of a structure in a buffer.
struct ControlField {
  ControlStructure structure;
  u16 offset;
  ControlType type;
  ControlStructure inner;  // of the type `part`
  core::Name name;         // Microsoft's where it starts with a capital
  KernelVersions versions;
  ControlUse use;
  std::string_view remark;
};

// A value that has a name.
struct ControlValue {
  ControlStructure structure;
  u16 offset;
  u64 value;
  std::string_view name;
};

// All known structures of buffers.
[[nodiscard]] std::span<const ControlLayout> control_layouts();

// All fields, by structure and offset. Bytes between them are padding or not described.
[[nodiscard]] std::span<const ControlField> control_fields();

// Null if the version does not have the structure.
[[nodiscard]] const ControlLayout* find_control_layout(ControlStructure structure,
                                                       KernelVersion version);

// Bytes of a field.
[[nodiscard]] u16 size_of(ControlType type);  // 0 for parts

// Empty if the value has no name.
[[nodiscard]] std::string_view name_of_value(ControlStructure structure, u16 offset, u64 value);

}  // namespace coldtrace::tracefile
