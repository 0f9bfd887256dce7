#pragma once

#include <memory>
#include <string>

#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/pe/identity.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::python {

// A PE image with the file that it is a view of.
struct PeImage {
  std::string path;
  std::unique_ptr<core::LazyFile> file;
  pe::Image image;
  core::Findings opening;   // what was found when it was opened
  core::Findings findings;  // that, and what else was read of it
  pe::Identity identity;
};

}  // namespace coldtrace::python
