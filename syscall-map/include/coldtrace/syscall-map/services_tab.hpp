#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image_tables.hpp"
#include "coldtrace/syscall-map/service_tables.hpp"

namespace coldtrace::syscall_map {

// A record of KiServicesTab: a function, its name as a hash, and its number of arguments.
struct ServicesTabEntry {
  u32 hash = 0;  // hash_name of the name without Nt
  u32 argument_count = 0;
  pe::Rva target{};
  std::string name;          // NtX; empty if none or several of the known names have the hash
  std::vector<u16> numbers;  // of KiServiceTable's entries with this target; merged functions have
                             // several, and a number may then be in several records
};

// KiServicesTab of Windows 10 1903 and later x64 kernels.
struct ServicesTab {
  pe::Rva rva{};
  std::optional<u64> file_offset;
  u64 address = 0;                        // at the preferred base
  std::vector<ServicesTabEntry> entries;  // in file order
  std::vector<std::string> evidence;
  Confidence confidence = Confidence::low;
  bool verified = false;
};

// Finds the tab by its structure: as many records as `kernel_table` has entries, with the targets
// of that table. `names` are those to which a hash may be resolved, with or without Nt.
[[nodiscard]] std::optional<ServicesTab> find_services_tab(const pe::ImageTables& tables,
                                                           const LocatedServiceTable& kernel_table,
                                                           std::span<const std::string> names,
                                                           core::Findings& findings);

}  // namespace coldtrace::syscall_map
