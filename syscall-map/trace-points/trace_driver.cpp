#include "coldtrace/syscall-map/trace-points/trace_driver.hpp"

#include <algorithm>
#include <array>

namespace coldtrace::syscall_map {

TraceDriverCheck check_trace_driver(const pe::Image& driver, pe::Machine kernel,
                                    core::Findings& findings) {
  const TraceDriverCheck check{
      (driver.optional_header().dll_characteristics & pe::dll_force_integrity) != 0,
      driver.machine() == kernel};
  if (!check.integrity_check)
    findings.warning("trace-driver-integrity", std::nullopt,
                     "it is not linked with /INTEGRITYCHECK: the kernel refuses its callbacks");
  if (!check.same_machine)
    findings.warning("trace-driver-machine", std::nullopt, "it is for {}, the kernel for {}",
                     pe::to_string(driver.machine()), pe::to_string(kernel));
  return check;
}

std::vector<SupportedInterface> select_trace_interfaces(std::vector<SupportedInterface> all) {
  constexpr std::array<std::string_view, 4> names{"KeSetSystemServiceCallback", "KeSetTracepoint",
                                                  "EtwRegisterEventCallback", "TraceInitSystem"};
  std::erase_if(all, [&](const SupportedInterface& interface) {
    return std::ranges::find(names, interface.name) == names.end();
  });
  return all;
}

void note_absence(const TraceFacility& facility, core::Findings& findings) {
  if (facility.state == TraceFacilityState::absent)
    findings.info("trace-facility-absent", std::nullopt,
                  "the kernel has no trace points of its own: {}", facility.evidence.front());
}

}  // namespace coldtrace::syscall_map
