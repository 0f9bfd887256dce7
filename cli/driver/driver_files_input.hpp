#pragma once

#include <memory>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/registry/driver-check/configuration.hpp"
#include "coldtrace/registry/driver-check/driver_files.hpp"

namespace coldtrace::cli {

// A folder where a volume is mounted or copied to, or the NDJSON of 'ntfs snapshot'. Null, with a
// finding, if there is no Windows in it. Throws Failure if it cannot be read.
std::unique_ptr<registry::DriverFiles> open_driver_files(const std::string& path,
                                                         const registry::WindowsFolder& windows,
                                                         const std::set<std::string>& asked,
                                                         core::Findings& findings);

}  // namespace coldtrace::cli
