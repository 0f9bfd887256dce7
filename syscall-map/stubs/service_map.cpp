#include "coldtrace/syscall-map/stubs/service_map.hpp"

#include <algorithm>

namespace coldtrace::syscall_map {

void note_unnamed(ServiceMap& map) {
  const auto unnamed = std::count_if(map.services.begin(), map.services.end(),
                                     [](const Service& service) { return service.name.empty(); });
  if (unnamed > 0)
    map.findings.info(
        "unnamed-services", std::nullopt,
        "{} of {} kernel stubs {} no exported name; an ntdll of the same build has them", unnamed,
        map.services.size(), unnamed == 1 ? "has" : "have");
}

std::optional<StubSide> find_stub_side(const std::vector<Service>& services) {
  u64 user = 0;
  u64 kernel = 0;
  for (const auto& service : services)
    if (!service.shape.empty()) ++(service.kernel_stub ? kernel : user);
  if (user == kernel) return std::nullopt;
  return user > kernel ? StubSide::user : StubSide::kernel;
}

void append_service_names(const ServiceMap& map, std::vector<std::string>& names) {
  const auto append = [&](const std::string& name) {
    if (is_service_name(name)) names.push_back(name);
  };
  for (const auto& service : map.services) {
    append(service.name);
    for (const auto& alias : service.aliases) append(alias);
  }
  for (const auto& left : map.rejected) append(left.name);
}

}  // namespace coldtrace::syscall_map
