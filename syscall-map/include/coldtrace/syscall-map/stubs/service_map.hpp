#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/syscall-map/stubs/service.hpp"

namespace coldtrace::syscall_map {

// The system services that one image shows.
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

// The side that most stubs of an image are of; nothing where none was read, as of Wine's kernel.
[[nodiscard]] std::optional<StubSide> find_stub_side(const std::vector<Service>& services);

// That stubs of a kernel have no name, as the finding `unnamed-services`: for who has no other
// image that names them.
void note_unnamed(ServiceMap& map);

// Every name of a service in `map`, those left out included, appended to `names`.
void append_service_names(const ServiceMap& map, std::vector<std::string>& names);

}  // namespace coldtrace::syscall_map
