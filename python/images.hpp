#pragma once

#include <memory>
#include <string>

#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/pe/identity.hpp"
#include "coldtrace/syscall-map/stubs/kernel_view.hpp"

namespace coldtrace::python {

// A PE image, and the file that it views.
struct PeImage {
  PeImage(std::string path_of_file, std::unique_ptr<core::LazyFile> file_of_image, pe::Image opened,
          core::Findings found)
      : path{std::move(path_of_file)},
        file{std::move(file_of_image)},
        image{std::move(opened)},
        opening{std::move(found)},
        identity{pe::read_identity(image, opening)},
        findings{opening} {}
  PeImage(const PeImage&) = delete;
  PeImage& operator=(const PeImage&) = delete;

  std::string path;
  std::unique_ptr<core::LazyFile> file;
  pe::Image image;
  core::Findings opening;  // those of opening it
  pe::Identity identity;
  core::Findings findings;              // those of opening it, and those of later reads
  syscall_map::KernelView view{image};  // its tables and services, each read once
};

}  // namespace coldtrace::python
