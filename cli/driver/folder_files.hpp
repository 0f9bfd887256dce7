#pragma once

#include <memory>

#include "cli/driver/driver_files.hpp"
#include "coldtrace/registry/driver-check/configuration.hpp"

namespace coldtrace::cli {

// The root of a drive, or Windows' own folder, in which nothing is known of the rest of the drive.
// Null where there is neither.
std::unique_ptr<DriverFiles> open_folder_files(const std::string& path,
                                               const registry::WindowsFolder& windows);

}  // namespace coldtrace::cli
