#pragma once

#include <memory>
#include <string>

#include "core/image_source.hpp"

namespace coldtrace::ntfs {

// True for the first bytes of an Expert Witness file (E01), as EnCase and ewfacquire write it.
// Source: libewf documentation, "Expert Witness Compression Format", file header.
bool is_ewf(core::ByteView head);

// Opens an E01 image with all its segments. `unsupported` when built without libewf.
core::Result<std::unique_ptr<core::ImageSource>> open_ewf(const std::string& path);

}  // namespace coldtrace::ntfs
