#pragma once

#include <memory>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/registry/driver-check/configuration.hpp"
#include "coldtrace/registry/driver-check/driver_files.hpp"

namespace coldtrace::cli {

// The files of a folder, to which a volume is mounted or copied, or of the lines of 'ntfs
// snapshot'. Null, with a finding, if there is no Windows. Throws Failure if it cannot be read.
std::unique_ptr<registry::DriverFiles> open_driver_files(const std::string& path,
                                                         const registry::WindowsFolder& windows,
                                                         const std::set<std::string>& asked,
                                                         core::Findings& findings);

}  // namespace coldtrace::cli
