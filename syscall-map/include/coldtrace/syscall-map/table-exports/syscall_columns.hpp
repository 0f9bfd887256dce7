#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::syscall_map {

// System call numbers in the layout of j00ru's tables: for each system, its names and their
// numbers. Source: j00ru/windows-syscalls at 8a6806ac, README.md, and x64 and x86 csv/ and json/.
struct SystemColumn {
  std::string_view family;  // "Windows 10", by the version of the kernel
  // Of the kernel. j00ru's tables have releases, "22H2", several of which share one kernel.
  std::string version;
  std::map<std::string, u16> numbers;  // by name; services without one are left out
};

// For the builds for `machine`, by version. A build for another machine, without a version, or with
// other numbers than one of its version is the finding `hook-row`; services without a name, or with
// one of low confidence, are `hook-value`.
[[nodiscard]] std::vector<SystemColumn> make_system_columns(std::span<const HookTable> builds,
                                                            ServiceTable table, pe::Machine machine,
                                                            core::Findings& findings);

}  // namespace coldtrace::syscall_map
