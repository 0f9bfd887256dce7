#include "coldtrace/registry/driver-check/driver_check.hpp"

#include "registry/driver-check/rules.hpp"

namespace coldtrace::registry {

bool Checked::lacks(const WindowsPath& path, FileKind kind) const {
  return files && path.is_known() && files->has(path, kind) == false;
}

std::vector<Problem> check_drivers(const Configuration& configuration, const FileList* files,
                                   core::Findings& findings) {
  Problems problems{findings};
  const Checked checked{configuration, files};
  if (configuration.has_system) {
    check_control_sets(checked, problems);
    check_filters(checked, problems);
    check_services(checked, problems);
    check_devices(checked, problems);
    check_known_dlls(checked, problems);
    check_autologgers(checked, problems);
  }
  check_app_init(checked, problems);
  return problems.take();
}

}  // namespace coldtrace::registry
