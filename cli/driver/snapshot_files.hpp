#pragma once

#include <memory>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/registry/driver-check/configuration.hpp"
#include "coldtrace/registry/driver-check/driver_files.hpp"

namespace coldtrace::cli {

// Live names of the volume of a snapshot (coldtrace.ntfs-snapshot/1) that Windows is on. Only names
// in `asked` are kept. Null where no volume has Windows; throws Failure where the file is not a
// snapshot.
std::unique_ptr<registry::DriverFiles> open_snapshot_files(const std::string& path,
                                                           const registry::WindowsFolder& windows,
                                                           const std::set<std::string>& asked,
                                                           core::Findings& findings);

}  // namespace coldtrace::cli
