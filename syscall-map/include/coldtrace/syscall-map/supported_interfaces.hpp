#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image_tables.hpp"

namespace coldtrace::syscall_map {

// A documented notification interface, to be used instead of a patch.
struct SupportedInterface {
  std::string name;     // "PsSetCreateProcessNotifyRoutine"
  std::string purpose;  // "processes created and ended"
  bool exported = false;
  bool imported = false;       // the kernel imports it from a module that may be absent
  std::optional<pe::Rva> rva;  // if it is exported, and not a forwarder
  std::string note;            // when to use it; may be empty
};

// All known interfaces, in a fixed order, whether the kernel has them or not.
[[nodiscard]] std::vector<SupportedInterface> find_supported_interfaces(
    const pe::ImageTables& tables, core::Findings& findings);

}  // namespace coldtrace::syscall_map
