#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"

namespace coldtrace::ntfs {

// True for virtual machine disks that a library reads, if it is installed.
[[nodiscard]] bool is_readable_virtual_disk(core::FileKind kind);

// The libraries that read them, which are loaded when an image needs them.
struct DiskReader {
  std::string images;   // "VHD and VHDX images"
  std::string library;  // "libvhdi"
  bool installed = false;
};

// Loads each of them to check whether it is present.
[[nodiscard]] std::vector<DiskReader> disk_readers();

// "vhd", "vhdx", "qcow" or "vmdk".
[[nodiscard]] std::string_view container_name(core::FileKind kind);

// Opens such a disk. What a child lacks comes from its parent: `parents` in the order of the chain,
// or the file next to the child with the parent's name. Names inside files refer to no other place,
// and no link is followed. Findings report missing parents and extents. The error is `unsupported`
// with the library's name if it is not installed, `bad_value` if it does not open the file.
core::Result<std::unique_ptr<core::ImageSource>> open_virtual_disk(
    const std::string& path, core::FileKind kind, const std::vector<std::string>& parents,
    core::Findings& findings);

// The files from which an image is read: itself, and for such a disk its parents and all their
// extents, as open_virtual_disk() takes them. If one is missing, those before it; if one cannot be
// read or taken, also that one.
[[nodiscard]] std::vector<std::string> list_disk_files(const std::string& path,
                                                       const std::vector<std::string>& parents);

}  // namespace coldtrace::ntfs
