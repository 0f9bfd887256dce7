#include "cli/driver/driver_files_input.hpp"

#include <filesystem>
#include <system_error>

#include "cli/driver/snapshot_files.hpp"
#include "coldtrace/registry/driver-check/folder_files.hpp"

namespace coldtrace::cli {

std::unique_ptr<registry::DriverFiles> open_driver_files(const std::string& path,
                                                         const registry::WindowsFolder& windows,
                                                         const std::set<std::string>& asked,
                                                         core::Findings& findings) {
  std::error_code unknown;
  auto files = std::filesystem::is_directory(path, unknown)
                   ? registry::open_folder_files(path, windows, findings)
                   : open_snapshot_files(path, windows, asked, findings);
  if (!files)
    findings.warning(
        "driver-files", std::nullopt,
        "{}: no Windows folder (one with System32 in it) was found; files are not checked", path);
  return files;
}

}  // namespace coldtrace::cli
