#pragma once

#include <memory>
#include <string>

#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/pe/identity.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::python {

// A PE image, and the file that it views.
struct PeImage {
  std::string path;
  std::unique_ptr<core::LazyFile> file;
  pe::Image image;
  core::Findings opening;   // those of opening it
  core::Findings findings;  // those, and those of later reads
  pe::Identity identity;
};

}  // namespace coldtrace::python
