#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/findings.hpp"
#include "pe/image.hpp"
#include "syscall-map/service.hpp"

namespace coldtrace::syscall_map {

// The system services that one image shows.
struct ServiceMap {
  std::vector<Service> services;  // by number, then RVA
  std::vector<LeftOut> left_out;  // by name
  core::Findings findings;
};

// Decodes the stubs at the exports of `image`, and the unexported ones of a kernel's run of Zw
// stubs; infers numbers where the order of the stubs proves them; checks the result.
// An image without any stub gives an empty map with the finding `no-services`.
ServiceMap map_services(const pe::Image& image);

// That stubs of a kernel have no name, as the finding `unnamed-services`: for who has no other
// image that names them.
void note_unnamed(ServiceMap& map);

// Every name of a service in `map`, those left out included, appended to `names`.
void append_service_names(const ServiceMap& map, std::vector<std::string>& names);

}  // namespace coldtrace::syscall_map
