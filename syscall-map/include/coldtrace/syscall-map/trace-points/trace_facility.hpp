#pragma once

#include <string>
#include <vector>

#include "coldtrace/core/integers.hpp"
#include "coldtrace/syscall-map/context_switch.hpp"
#include "coldtrace/syscall-map/supported_interfaces.hpp"

namespace coldtrace::syscall_map {

// Whether a kernel has the trace points of Windows 10 1903 itself.
enum class TraceFacilityState : u8 { unknown, present, absent };

[[nodiscard]] std::string_view to_string(TraceFacilityState state);

// What is known of that, and how.
struct TraceFacility {
  TraceFacilityState state = TraceFacilityState::unknown;
  std::vector<std::string> evidence;  // sentences
  bool verified = false;              // what is looked for was seen in a real kernel
};

// From the interfaces of the kernel (find_supported_interfaces), its version, and the symbols of
// its PDB, if any.
[[nodiscard]] TraceFacility find_trace_facility(const pe::Image& image,
                                                const std::vector<SupportedInterface>& interfaces,
                                                const std::vector<NamedPlace>& symbols);

}  // namespace coldtrace::syscall_map
