#pragma once

#include "coldtrace/registry/driver-check/configuration.hpp"
#include "coldtrace/registry/driver-check/file_list.hpp"
#include "coldtrace/registry/driver-check/problem.hpp"

namespace coldtrace::registry {

// What the rules look at.
struct Checked {
  const Configuration& configuration;
  const FileList* files;  // may be null

  // Whether it is known not to be there.
  bool lacks(const WindowsPath& path, FileKind kind = FileKind::file) const;
};

void check_control_sets(const Checked& checked, Problems& problems);
void check_filters(const Checked& checked, Problems& problems);
void check_services(const Checked& checked, Problems& problems);
void check_devices(const Checked& checked, Problems& problems);
void check_app_init(const Checked& checked, Problems& problems);
void check_known_dlls(const Checked& checked, Problems& problems);
void check_autologgers(const Checked& checked, Problems& problems);

}  // namespace coldtrace::registry
