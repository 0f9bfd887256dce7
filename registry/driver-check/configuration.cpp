#include "coldtrace/registry/driver-check/configuration.hpp"

#include "coldtrace/registry/hive/key.hpp"

namespace coldtrace::registry {

std::optional<WindowsPath> Service::file(const WindowsFolder& windows) const {
  if (!is_service()) return std::nullopt;
  if (has_text(image_path))
    return to_windows_path(*image_path, is_driver() ? PathUse::driver : PathUse::program, windows);
  if (!is_driver() || !whole) return std::nullopt;
  return WindowsPath{WindowsPath::Place::windows, "system32\\drivers\\" + lower(name) + ".sys"};
}

std::string_view start_name(std::optional<u64> start) {
  switch (start.value_or(~u64{0})) {
    case Service::boot:
      return "boot";
    case Service::system:
      return "system";
    case Service::automatic:
      return "automatic";
    case Service::demand:
      return "demand";
    case Service::disabled:
      return "disabled";
    default:
      return start ? "unknown" : "none";
  }
}

const Service* Configuration::find_service(std::string_view name) const {
  const auto found = services_by_name.find(lower(name));
  const auto* const service = found == services_by_name.end() ? nullptr : &services[found->second];
  return service && service->is_service() ? service : nullptr;
}

bool Configuration::lacks_service(std::string_view name) const {
  return services_whole && !find_service(name);
}

}  // namespace coldtrace::registry
