#pragma once

#include <memory>

#include "cli/driver/driver_files.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/registry/driver-check/configuration.hpp"

namespace coldtrace::cli {

// Live names of the volume of a snapshot (coldtrace.ntfs-snapshot/1) that Windows is on. Only names
// in `asked` are kept. Null where no volume has Windows; throws Failure where the file is no
// snapshot.
std::unique_ptr<DriverFiles> open_snapshot_files(const std::string& path,
                                                 const registry::WindowsFolder& windows,
                                                 const std::set<std::string>& asked,
                                                 core::Findings& findings);

}  // namespace coldtrace::cli
