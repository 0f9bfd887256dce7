#pragma once

#include <memory>
#include <optional>
#include <string>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/bitlocker/bitlocker_volumes.hpp"
#include "coldtrace/ntfs/disk/partition.hpp"
#include "coldtrace/ntfs/opening/image_volumes.hpp"
#include "python/values.hpp"

namespace coldtrace::python {

struct DiskImage : ntfs::ImageVolumes {
  std::string path;
  core::Findings findings;
};

// The names of open_image()'s arguments.
constexpr ntfs::BitLockerKeyNames bitlocker_key_names{"password_files", "recovery_key_files",
                                                      "startup_keys"};

// Nothing for a bare volume.
inline std::optional<u32> number_of(const ntfs::Partition& partition) {
  return partition.number == 0 ? std::nullopt : std::optional{partition.number};
}

// Adds the type and open_image().
py::class_<DiskImage, std::shared_ptr<DiskImage>> add_disk_images(py::module_& module);

}  // namespace coldtrace::python
