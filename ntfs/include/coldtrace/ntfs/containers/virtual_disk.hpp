#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"

namespace coldtrace::ntfs {

// True for disks of virtual machines that a library reads, where it is installed.
[[nodiscard]] bool is_readable_virtual_disk(core::FileKind kind);

// What reads them: libraries that are loaded when an image needs them.
struct DiskReader {
  std::string images;   // "VHD and VHDX images"
  std::string library;  // "libvhdi"
  bool installed = false;
};

// Loads each of them to see whether it is there.
[[nodiscard]] std::vector<DiskReader> disk_readers();

// "vhd", "vhdx", "qcow" or "vmdk".
[[nodiscard]] std::string_view container_name(core::FileKind kind);

// Opens such a disk. What a child lacks is its parent's: `parents` in the order of the chain, or
// the file beside the child that has the parent's name. Names inside files lead nowhere else, and
// no link is followed. Findings tell of parents and extents that are not there. The error is
// `unsupported` with the library's name where that is not installed, `bad_value` where it does not
// open the file.
core::Result<std::unique_ptr<core::ImageSource>> open_virtual_disk(
    const std::string& path, core::FileKind kind, const std::vector<std::string>& parents,
    core::Findings& findings);

// The files that an image is read from: itself, and of such a disk its parents and all their
// extents, as open_virtual_disk() takes them. Where one is missing, those up to it.
[[nodiscard]] std::vector<std::string> list_disk_files(const std::string& path,
                                                       const std::vector<std::string>& parents);

}  // namespace coldtrace::ntfs
