#pragma once

#include <optional>
#include <string>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/nt_trace_control/trace_control_check.hpp"

namespace coldtrace::tracefile {

// What there is to say about function codes and calls, as findings whose codes are in
// docs/findings.md.

// "0x0F"
[[nodiscard]] std::string control_code_text(u32 code);

// "STATUS_INVALID_PARAMETER (0xc000000d)", with "or" between several; empty for none.
[[nodiscard]] std::string statuses_text(std::span<const NtStatus> statuses);

// `control-code`: the version, or every version if none is given, lacks the code, and what a call
// then returns.
void note_control_code(u32 code, std::optional<KernelVersion> version, core::Findings& findings);

// `control-code`, for a buffer that goes with the code in the version.
void note_control_buffer(u32 code, KernelVersion version, core::Findings& findings);

// `control-status` and `control-unstated`: the outcome of a call in the version.
void note_expected_status(const ExpectedStatus& expected, KernelVersion version,
                          core::Findings& findings);

}  // namespace coldtrace::tracefile
