#pragma once

#include <memory>
#include <string>

#include "ntfs/containers/disk_library.hpp"

namespace coldtrace::ntfs {

// Opens the data of a VMDK that holds its descriptor itself and has another name than that says.
// What is returned has to outlive the handle; null where it cannot be opened so.
std::shared_ptr<void> open_own_extent(DiskLibrary::Handle* handle, const std::string& path);

}  // namespace coldtrace::ntfs
