#pragma once

#include <map>
#include <string>

#include "cli/command/report.hpp"
#include "coldtrace/core/integers.hpp"
#include "coldtrace/tracefile/ctrace/ctrace_header.hpp"
#include "coldtrace/tracefile/fields/field_value.hpp"

namespace coldtrace::cli {

// Names of system services: by number, when they are those of the image whose numbers a trace has,
// and by the hash of the name, which is the same everywhere.
struct SystemCallNames {
  std::map<u32, std::string> by_number;
  std::map<u32, std::string> by_hash;

  // The service that a value is the number or the hash of; empty where it is of none.
  std::string_view find(const tracefile::Value& value) const;
};

// Reads the output of "syscalls map --format json", or an image with stubs such as ntdll.dll.
// Numbers of images other than `ntdll` and of the same file are left out with a finding: a name of
// another table would be a wrong one. Nothing when the file cannot be used, which `report` says.
std::optional<SystemCallNames> read_system_call_names(const std::string& path,
                                                      const tracefile::TracedImage& ntdll,
                                                      core::Findings& findings, Report& report);

}  // namespace coldtrace::cli
