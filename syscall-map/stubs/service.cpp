#include "coldtrace/syscall-map/stubs/service.hpp"

namespace coldtrace::syscall_map {

std::string_view to_string(ServiceTable table) {
  return table == ServiceTable::nt ? "nt" : "win32k";
}

std::string_view to_string(NumberSource source) {
  return source == NumberSource::read ? "read" : "inferred";
}

bool is_service_name(std::string_view name) {
  return name.size() > 2 && (name.starts_with("Nt") || name.starts_with("Zw")) && name[2] >= 'A' &&
         name[2] <= 'Z';
}

std::string to_nt_name(std::string_view name) {
  if (is_service_name(name)) return "Nt" + std::string{name.substr(2)};
  return std::string{name};
}

}  // namespace coldtrace::syscall_map
