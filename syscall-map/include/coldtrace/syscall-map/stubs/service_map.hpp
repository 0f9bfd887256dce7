#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/syscall-map/stubs/service.hpp"

namespace coldtrace::syscall_map {

// The system services that one image contains.
struct ServiceMap {
  std::vector<Service> services;       // by number, then RVA
  std::vector<RejectedName> rejected;  // by name
  core::Findings findings;
};

// A side of the system call interface.
enum class StubSide : u8 {
  user,    // ntdll, win32u: their stubs enter the kernel
  kernel,  // its ZwX stubs call services of its own
};

// The side to which most stubs of an image belong; nothing if none was read, as for Wine's kernel.
[[nodiscard]] std::optional<StubSide> find_stub_side(const std::vector<Service>& services);

// The finding `unnamed-services`: stubs of a kernel have no name, for callers that have no other
// image to name them.
void note_unnamed(ServiceMap& map);

// Appends every service name in `map`, including rejected ones, to `names`.
void append_service_names(const ServiceMap& map, std::vector<std::string>& names);

}  // namespace coldtrace::syscall_map
