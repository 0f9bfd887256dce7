#pragma once

#include <memory>
#include <string>

#include "ntfs/containers/disk_library.hpp"

namespace coldtrace::ntfs {

// Opens the data of a VMDK with an embedded descriptor that gives another name than the file has.
// The result has to outlive the handle; null if the data cannot be opened in this way.
std::shared_ptr<void> open_own_extent(DiskLibrary::Handle* handle, const std::string& path);

}  // namespace coldtrace::ntfs
