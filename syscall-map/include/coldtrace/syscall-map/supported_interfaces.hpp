#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image_tables.hpp"

namespace coldtrace::syscall_map {

// A documented way to be told of something, which is to be used instead of a patch.
struct SupportedInterface {
  std::string name;     // "PsSetCreateProcessNotifyRoutine"
  std::string purpose;  // "processes created and ended"
  bool exported = false;
  bool imported = false;       // the kernel imports it: a module that is not there offers it
  std::optional<pe::Rva> rva;  // where it is exported, and not a forwarder
  std::string note;            // when to use it; empty where there is nothing to add
};

// All interfaces that are looked for, in a fixed order, whether the kernel has them or not.
[[nodiscard]] std::vector<SupportedInterface> find_supported_interfaces(
    const pe::ImageTables& tables, core::Findings& findings);

}  // namespace coldtrace::syscall_map
