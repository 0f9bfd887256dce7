#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/ewf_image.hpp"

namespace coldtrace::ntfs {

// An image of a disk or a volume, whatever file it lies in.
struct ImageFile {
  std::unique_ptr<core::ImageSource> source;
  const EwfSource* ewf = nullptr;  // the same source, of an E01 image
  std::string_view container;      // "raw" or "ewf"
  core::FileKind kind;             // of what the source gives: a volume, a $MFT, or none of these

  // Adds what the reads so far showed to be damaged in the file itself.
  void add_findings(core::Findings& findings) const {
    if (ewf) ewf->add_findings(findings);
  }
};

// Opens a raw image, a block device or an E01 image by its contents. Findings tell of parts and
// segments that are not there.
core::Result<ImageFile> open_image(const std::string& path, core::Findings& findings);

}  // namespace coldtrace::ntfs
