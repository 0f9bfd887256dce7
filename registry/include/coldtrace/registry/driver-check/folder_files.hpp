#pragma once

#include <memory>
#include <string>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/registry/driver-check/driver_files.hpp"

namespace coldtrace::registry {

// The files below a folder of this system: the root of the drive that Windows is on, as it is
// mounted or copied, or Windows' own folder, in which nothing is known of the rest of the drive.
// Windows is a folder with System32 in it: the one that `windows` names, else any. Names differ by
// more than the case of ASCII letters; of two that do not, the first that the system lists counts.
// Nothing is known of what cannot be listed, which is a finding once it is asked for
// (`folder-unreadable`), and a link to nowhere is not there. Null where there is no Windows.
// `findings` outlive the files.
[[nodiscard]] std::unique_ptr<DriverFiles> open_folder_files(const std::string& path,
                                                             const WindowsFolder& windows,
                                                             core::Findings& findings);

}  // namespace coldtrace::registry
