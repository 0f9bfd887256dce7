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

class WatchedImage;

// An image of a disk or a volume, in any kind of file.
struct ImageFile {
  std::unique_ptr<core::ImageSource> unpacked;  // what `source` is read from by its path
  std::unique_ptr<core::ImageSource> source;
  const EwfSource* ewf = nullptr;         // the same source, of an E01 image
  const WatchedImage* watched = nullptr;  // the same source, of any other
  std::string_view container;             // "raw", "split", "ewf", or as container_name() has it
  core::FileKind kind;  // kind of the source's content: a volume, a $MFT, or neither

  // Adds findings for damage of the file itself that reads have shown so far: also the warning
  // `unreadable-range` if one has failed, whatever became of it.
  void add_findings(core::Findings& findings) const;
};

// Opens a raw image (given by its first part if there are several), a block device, an E01 image or
// a virtual machine disk, by its contents. Findings report missing parts, segments and parents.
// `parents` are those of a disk that contains only changes, if they are not next to it.
core::Result<ImageFile> open_image(const std::string& path, core::Findings& findings,
                                   const std::vector<std::string>& parents = {});

// The same for bytes without a name, such as decompressed ones; further files, such as segments,
// are missing. An E01 image and a virtual machine disk are read by the source's path; if it has
// none, they are not opened, and `kind` says what they are.
core::Result<ImageFile> open_image(std::unique_ptr<core::ImageSource> source,
                                   core::Findings& findings,
                                   const std::vector<std::string>& parents);

// What an image is by its contents: its first bytes do not decide alone against all others, which a
// finding reports.
[[nodiscard]] core::FileKind recognize_image(const core::ImageSource& image,
                                             core::Findings& findings);

}  // namespace coldtrace::ntfs
