#pragma once

#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image.hpp"
#include "coldtrace/syscall-map/trace-points/trace_facility.hpp"

namespace coldtrace::syscall_map {

// What a kernel requires of a driver that a trace point is to call back.
struct TraceDriverCheck {
  bool integrity_check = false;  // linked with /INTEGRITYCHECK
  bool same_machine = false;     // as the kernel
};

// KeIsValidTraceCallbackTarget of Windows 10 1903 requires the callback to be in a driver that was
// linked with /INTEGRITYCHECK. What it would refuse is a warning: `trace-driver-integrity`,
// `trace-driver-machine`.
[[nodiscard]] TraceDriverCheck check_trace_driver(const pe::Image& driver, pe::Machine kernel,
                                                  core::Findings& findings);

// The interfaces that set trace points: KeSetSystemServiceCallback, KeSetTracepoint,
// EtwRegisterEventCallback and TraceInitSystem.
[[nodiscard]] std::vector<SupportedInterface> select_trace_interfaces(
    std::vector<SupportedInterface> all);

// Reports, as information, that the kernel has no trace points of its own.
void note_absence(const TraceFacility& facility, core::Findings& findings);

}  // namespace coldtrace::syscall_map
