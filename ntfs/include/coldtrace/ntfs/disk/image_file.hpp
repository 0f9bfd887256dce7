#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/disk/ewf_image.hpp"

namespace coldtrace::ntfs {

// An image of a disk or a volume, whatever file it lies in.
struct ImageFile {
  std::unique_ptr<core::ImageSource> unpacked;  // what `source` is read from by its path
  std::unique_ptr<core::ImageSource> source;
  const EwfSource* ewf = nullptr;  // the same source, of an E01 image
  std::string_view container;      // "raw", "split", "ewf", or as container_name() has it
  core::FileKind kind;             // of what the source gives: a volume, a $MFT, or none of these

  // Adds what the reads so far showed to be damaged in the file itself.
  void add_findings(core::Findings& findings) const {
    if (ewf) ewf->add_findings(findings);
  }
};

// Opens a raw image, all parts of one by the first, a block device, an E01 image or the disk of a
// virtual machine by its contents.
// Findings tell of parts, segments and parents that are not there; `parents` are those of a disk
// that holds what changed, where they are not beside it.
core::Result<ImageFile> open_image(const std::string& path, core::Findings& findings,
                                   const std::vector<std::string>& parents = {});

// The same of bytes that have no name, as what was unpacked: what is in further files, as segments,
// is not there. An E01 image and the disk of a virtual machine are read by the source's path; where
// it has none, they stay what they are, and `kind` says it.
core::Result<ImageFile> open_image(std::unique_ptr<core::ImageSource> source,
                                   core::Findings& findings,
                                   const std::vector<std::string>& parents);

// What an image is by its contents: its first bytes are not believed against all others, which a
// finding says.
[[nodiscard]] core::FileKind recognize_image(const core::ImageSource& image,
                                             core::Findings& findings);

}  // namespace coldtrace::ntfs
