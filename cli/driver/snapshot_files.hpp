#pragma once

#include <memory>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/registry/driver-check/configuration.hpp"
#include "coldtrace/registry/driver-check/driver_files.hpp"

namespace coldtrace::cli {

// The live names of the volume with Windows in a snapshot (coldtrace.ntfs-snapshot/1). Only names
// in `asked` are kept. Null if no volume has Windows; throws Failure if the file is not a snapshot.
std::unique_ptr<registry::DriverFiles> open_snapshot_files(const std::string& path,
                                                           const registry::WindowsFolder& windows,
                                                           const std::set<std::string>& asked,
                                                           core::Findings& findings);

}  // namespace coldtrace::cli
