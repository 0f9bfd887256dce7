#pragma once

#include <string>
#include <vector>

namespace coldtrace::ntfs {

// The files with a disk's data that a VMDK's descriptor names and that are beside it, each once, by
// the names that open_virtual_disk() takes. None where the file is not a descriptor.
[[nodiscard]] std::vector<std::string> list_extents(const std::string& path);

}  // namespace coldtrace::ntfs
