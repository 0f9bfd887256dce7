#pragma once

#include <string>
#include <vector>

#include "coldtrace/core/integers.hpp"
#include "coldtrace/syscall-map/context_switch.hpp"
#include "coldtrace/syscall-map/supported_interfaces.hpp"

namespace coldtrace::syscall_map {

// Whether a kernel itself has the trace points of Windows 10 1903.
enum class TraceFacilityState : u8 { unknown, present, absent };

[[nodiscard]] std::string_view to_string(TraceFacilityState state);

// The result, and the evidence for it.
struct TraceFacility {
  TraceFacilityState state = TraceFacilityState::unknown;
  std::vector<std::string> evidence;  // sentences
  bool verified = false;              // whether the features looked for were seen in a real kernel
};

// From the interfaces of the kernel (find_supported_interfaces), its version, and the symbols of
// its PDB, if any.
[[nodiscard]] TraceFacility find_trace_facility(const pe::Image& image,
                                                const std::vector<SupportedInterface>& interfaces,
                                                const std::vector<NamedPlace>& symbols);

}  // namespace coldtrace::syscall_map
