#pragma once

#include <memory>
#include <string>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/image_file.hpp"
#include "coldtrace/ntfs/partition.hpp"
#include "python/values.hpp"

namespace coldtrace::python {

struct DiskImage {
  std::string path;
  ntfs::ImageFile file;
  ntfs::Disk disk;
  core::Findings findings;
};

// Adds the type and open_image().
py::class_<DiskImage, std::shared_ptr<DiskImage>> add_disk_images(py::module_& module);

}  // namespace coldtrace::python
