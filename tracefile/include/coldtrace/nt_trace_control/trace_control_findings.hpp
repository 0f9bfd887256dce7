#pragma once

#include <optional>
#include <string>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/nt_trace_control/trace_control_check.hpp"

namespace coldtrace::tracefile {

// What is to be said of function codes and calls, as findings whose codes docs/findings.md has.

// "0x0F"
[[nodiscard]] std::string control_code_text(u32 code);

// "STATUS_INVALID_PARAMETER (0xc000000d)", with "or" between several; empty for none.
[[nodiscard]] std::string statuses_text(std::span<const NtStatus> statuses);

// `control-code`: that the version, or without one every version, lacks the code, and what a call
// returns then.
void note_control_code(u32 code, std::optional<KernelVersion> version, core::Findings& findings);

// `control-code`, of a buffer that goes with the code in the version.
void note_control_buffer(u32 code, KernelVersion version, core::Findings& findings);

// `control-status` and `control-unstated`: what becomes of a call in the version.
void note_expected_status(const ExpectedStatus& expected, KernelVersion version,
                          core::Findings& findings);

}  // namespace coldtrace::tracefile
