#pragma once

#include <string>
#include <vector>

#include "cli/command/common_options.hpp"
#include "coldtrace/nt_trace_control/trace_control_check.hpp"
#include "coldtrace/nt_trace_control/trace_control_code.hpp"

namespace coldtrace::cli {

void add_trace_control_list(CLI::App& app, Exit& exit);
void add_trace_control_explain(CLI::App& app, Exit& exit);
void add_trace_control_decode(CLI::App& app, Exit& exit);

// Parses the argument CODE: a number, or a name from the table. Throws Failure.
u32 parse_control_code(const std::string& text);

// --windows; `absent` says what its absence means.
void add_kernel_version(Command& command, std::string& version, const std::string& absent);

// "6.0 to 6.2", "6.3 and higher"
std::string versions_text(tracefile::KernelVersions versions);

// The array of {"name","value"}.
void write_statuses(JsonWriter& json, std::span<const tracefile::NtStatus> statuses);

// The document of `list` and `explain`: the codes, the checks common to all codes, and the layouts
// of their buffers. Without a version, what any version has.
void write_control_codes(JsonWriter& json, const std::vector<const tracefile::ControlCode*>& codes,
                         std::optional<tracefile::KernelVersion> version,
                         const core::Findings& findings);

// The layouts of a code's buffers, each before the structures that are parts of it.
std::vector<const tracefile::ControlLayout*> layouts_of(
    const tracefile::ControlCode& code, std::optional<tracefile::KernelVersion> version);

}  // namespace coldtrace::cli
