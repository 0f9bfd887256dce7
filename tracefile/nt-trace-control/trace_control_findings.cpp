#include "coldtrace/nt_trace_control/trace_control_findings.hpp"

#include <fmt/format.h>

#include "coldtrace/nt_trace_control/trace_control_code.hpp"

namespace coldtrace::tracefile {

std::string control_code_text(u32 code) {
  return fmt::format("0x{:02X}", code);
}

std::string statuses_text(std::span<const NtStatus> statuses) {
  std::string text;
  for (const auto status : statuses)
    text += fmt::format("{}{} ({:#010x})", text.empty() ? "" : " or ", to_string(status),
                        static_cast<u32>(status));
  return text;
}

void note_control_code(u32 code, std::optional<KernelVersion> version, core::Findings& findings) {
  const auto* const row = find_control_code(code);
  if (row != nullptr && (!version || row->versions.contains(*version))) return;
  findings.warning("control-code", std::nullopt, "{} has no function code {}: the result is {}",
                   version ? fmt::format("version {}", to_string(*version)) : "NtTraceControl",
                   control_code_text(code), to_string(NtStatus::invalid_device_request));
}

void note_control_buffer(u32 code, KernelVersion version, core::Findings& findings) {
  const auto* const row = find_control_code(code);
  if (row == nullptr)
    findings.warning("control-code", std::nullopt, "no version has the function code {}",
                     control_code_text(code));
  else if (!row->versions.contains(version))
    findings.warning("control-code", std::nullopt, "version {} has no function code {}",
                     to_string(version), control_code_text(code));
}

void note_expected_status(const ExpectedStatus& expected, KernelVersion version,
                          core::Findings& findings) {
  if (expected.outcome == Outcome::fails)
    findings.warning("control-status", std::nullopt, "the call fails with {}; the check: {}",
                     statuses_text(expected.statuses), expected.check->text);
  if (!expected.stated)
    findings.info("control-unstated", std::nullopt,
                  "what is checked is known from the kernel of Windows 10, not from {}",
                  to_string(version));
}

}  // namespace coldtrace::tracefile
