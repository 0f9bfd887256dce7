#include "coldtrace/syscall-map/service_map.hpp"

#include <algorithm>

namespace coldtrace::syscall_map {

void note_unnamed(ServiceMap& map) {
  const auto unnamed = std::count_if(map.services.begin(), map.services.end(),
                                     [](const Service& service) { return service.name.empty(); });
  if (unnamed > 0)
    map.findings.info(
        "unnamed-services", std::nullopt,
        "{} of {} kernel stubs have no exported name; an ntdll of the same build has them", unnamed,
        map.services.size());
}

void append_service_names(const ServiceMap& map, std::vector<std::string>& names) {
  const auto append = [&](const std::string& name) {
    if (is_service_name(name)) names.push_back(name);
  };
  for (const auto& service : map.services) {
    append(service.name);
    for (const auto& alias : service.aliases) append(alias);
  }
  for (const auto& left : map.left_out) append(left.name);
}

}  // namespace coldtrace::syscall_map
