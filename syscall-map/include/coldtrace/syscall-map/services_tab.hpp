#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image_tables.hpp"
#include "coldtrace/syscall-map/service_tables.hpp"

namespace coldtrace::syscall_map {

// A record of KiServicesTab: which function has which name, as a hash, and how many arguments.
struct ServicesTabEntry {
  u32 hash = 0;  // hash_name of the name without Nt
  u32 argument_count = 0;
  pe::Rva target{};
  std::string name;          // NtX; empty where none or several of the known names have the hash
  std::vector<u16> numbers;  // of KiServiceTable's entries with this target; merged functions have
                             // several, and several records of the tab one number
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

// Finds the tab by its structure: as many records as `kernel_table` has entries, whose targets are
// that table's. `names` are those that a hash may stand for, with or without Nt.
[[nodiscard]] std::optional<ServicesTab> find_services_tab(const pe::ImageTables& tables,
                                                           const LocatedServiceTable& kernel_table,
                                                           std::span<const std::string> names,
                                                           core::Findings& findings);

}  // namespace coldtrace::syscall_map
