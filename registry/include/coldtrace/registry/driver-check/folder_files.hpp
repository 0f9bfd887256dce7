#pragma once

#include <memory>
#include <string>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/registry/driver-check/driver_files.hpp"

namespace coldtrace::registry {

// The files below a folder of this system: the root of the drive that Windows is on, mounted or
// copied, or the Windows folder itself, and then nothing is known of the rest of the drive. The
// Windows folder is one with System32 in it: the one that `windows` names, else any. The case of
// ASCII letters is ignored; of names that differ in nothing else, the first that the system lists
// counts. Nothing is known of a folder that cannot be listed, which is a finding once it is asked
// for (`folder-unreadable`). A dangling link counts as absent. Null if there is no Windows folder.
// `findings` has to outlive the files.
[[nodiscard]] std::unique_ptr<DriverFiles> open_folder_files(const std::string& path,
                                                             const WindowsFolder& windows,
                                                             core::Findings& findings);

}  // namespace coldtrace::registry
