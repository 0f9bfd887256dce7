#pragma once

#include <memory>
#include <string>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"

namespace coldtrace::ntfs {

// A raw image in parts, as split, dd and imagers write them: all of one size, but the last one.
// Null where `path` is not part of one, or alone. Fails where it is a part and not the first.
core::Result<std::unique_ptr<core::ImageSource>> open_split_image(const std::string& path,
                                                                  core::Findings& findings);

}  // namespace coldtrace::ntfs
