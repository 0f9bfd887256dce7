#pragma once

#include "coldtrace/nt_trace_control/trace_control_check.hpp"

namespace coldtrace::tracefile {

// The arguments of NtTraceControl in a trace, in the order of the function's parameters. Those that
// were not logged are absent; of 32-bit integers, only the low 32 bits count.
struct LoggedControlCall {
  // Source: trace_control_document, the function's declaration.
  static constexpr std::array<std::string_view, 6> parameters{
      "FunctionCode", "InBuffer", "InBufferLen", "OutBuffer", "OutBufferLen", "ReturnSize"};

  std::array<std::optional<u64>, parameters.size()> arguments;
  u8 pointer_size = 8;  // of the kernel that logged it: 4 or 8

  [[nodiscard]] std::optional<u32> code() const;
};

// What the documented checks say about the call in both caller modes, since traces do not show the
// mode: it fails only if it must fail in both. Undecided if the code or the input's length was not
// logged, or if the modes differ.
[[nodiscard]] ExpectedStatus expected_status(const LoggedControlCall& call, KernelVersion version);

}  // namespace coldtrace::tracefile
