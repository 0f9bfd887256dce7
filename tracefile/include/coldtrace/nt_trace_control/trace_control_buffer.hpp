#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/guid.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/nt_trace_control/trace_control_layout.hpp"

namespace coldtrace::tracefile {

// A field of a buffer, with the names of the structures that contain it: "Wnode.Flags".
struct DecodedControlField {
  std::string name;
  u64 offset;  // in the buffer
  ControlType type;
  ControlUse use;
  u64 number;        // sign-extended for i32; 0 for 16 bytes
  core::Guid bytes;  // of the types guid and bytes
  std::string_view value_name;
  std::string_view remark;
};

// A buffer of NtTraceControl as far as its bytes go.
struct DecodedControlBuffer {
  const ControlLayout* layout = nullptr;  // null if no source describes the bytes
  std::vector<DecodedControlField> fields;
  // What follows everything that is decoded.
  u64 rest_offset = 0;
  u64 rest_size = 0;
  core::Findings findings;
};

// Which of a call's two buffers it is.
enum class ControlDirection : u8 { input, output };

// The input or output buffer of the function code. Never fails: missing or impossible bytes are
// findings, and a code that the version does not have has no layout.
[[nodiscard]] DecodedControlBuffer decode_control_buffer(u32 code, KernelVersion version,
                                                         ControlDirection direction,
                                                         core::ByteView bytes);

}  // namespace coldtrace::tracefile
