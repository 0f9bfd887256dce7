#pragma once

#include <span>
#include <string_view>

#include "coldtrace/nt_trace_control/trace_control_layout.hpp"

namespace coldtrace::tracefile {

// The document that this knowledge of NtTraceControl comes from: notes made by inspecting the
// kernel of the first release of Windows 10. The tables mark what they say about other versions.
inline constexpr std::string_view trace_control_document =
    "Geoff Chappell, NtTraceControl (draft), geoffchappell.com";

// No kernel was run to confirm the tables.
inline constexpr bool trace_control_verified = false;

// A function code of NtTraceControl. Sentences are short forms of the document's; an empty one
// means that the document says nothing.
struct ControlCode {
  u32 code;
  std::string_view name;
  bool microsoft_name;  // else the document's description
  KernelVersions versions;
  bool double_buffered;  // input and output go through one allocation from the paged pool
  ControlStructure input_structure;
  ControlStructure output_structure;
  std::string_view section;  // of the document
  std::string_view input;
  std::string_view output;
  std::string_view access;
};

// All of them, by code.
[[nodiscard]] std::span<const ControlCode> control_codes();

// Null for a code that the document has no row for.
[[nodiscard]] const ControlCode* find_control_code(u32 code);

}  // namespace coldtrace::tracefile
