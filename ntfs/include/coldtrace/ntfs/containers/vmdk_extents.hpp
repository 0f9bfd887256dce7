#pragma once

#include <string>
#include <vector>

namespace coldtrace::ntfs {

// The files with a disk's data that a VMDK's descriptor names and that are next to it, each once,
// by the names that open_virtual_disk() takes. None if the file is not a descriptor.
[[nodiscard]] std::vector<std::string> list_extents(const std::string& path);

}  // namespace coldtrace::ntfs
