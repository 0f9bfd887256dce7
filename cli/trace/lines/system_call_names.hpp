#pragma once

#include <map>
#include <string>

#include "cli/command/report.hpp"
#include "coldtrace/core/integers.hpp"
#include "coldtrace/tracefile/ctrace/ctrace_header.hpp"
#include "coldtrace/tracefile/fields/field_value.hpp"

namespace coldtrace::cli {

// Names of system services: by number, if they are from the image whose numbers the trace has, and
// by the hash of the name, which is the same everywhere.
struct SystemCallNames {
  std::map<u32, std::string> by_number;
  std::map<u32, std::string> by_hash;

  // The service whose number or hash a value is; empty if there is none.
  std::string_view find(const tracefile::Value& value) const;
};

// Reads the output of "syscalls map --format json", or an image with stubs such as ntdll.dll.
// Numbers from images other than `ntdll` are left out with a finding: a name from another table
// would be wrong. Nothing, and a report, if the file cannot be used.
std::optional<SystemCallNames> read_system_call_names(const std::string& path,
                                                      const tracefile::TracedImage& ntdll,
                                                      core::Findings& findings, Report& report);

}  // namespace coldtrace::cli
