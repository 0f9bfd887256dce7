#pragma once

#include <memory>
#include <string>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"

namespace coldtrace::ntfs {

// A raw image in parts, as split(1), dd and imagers write them: all of the same size, except for
// the last one. Null if `path` is not a part, or the only one. Fails if it is a part but not the
// first.
core::Result<std::unique_ptr<core::ImageSource>> open_split_image(const std::string& path,
                                                                  core::Findings& findings);

}  // namespace coldtrace::ntfs
