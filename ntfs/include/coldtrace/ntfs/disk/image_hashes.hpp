#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/core/progress.hpp"
#include "coldtrace/ntfs/disk/image_file.hpp"

namespace coldtrace::ntfs {

// A hash of the whole disk that its image contains, in lower-case hexadecimal.
struct ImageHash {
  std::string_view algorithm;  // "md5", "sha1" or "sha256"
  std::string stored;
  std::optional<std::string> computed;  // from all that can be read

  // "MD5", "SHA-1" or "SHA-256"
  [[nodiscard]] std::string_view name() const;
  // Nothing if none was computed.
  [[nodiscard]] std::optional<bool> matches() const;
};

// Those of an E01 image; other images have none.
[[nodiscard]] std::vector<ImageHash> stored_hashes(const ImageFile& image,
                                                   core::Findings& findings);

// Reads the whole disk. A hash that differs is a warning, and so is a disk that cannot be read to
// its end or that has no stored hash.
void verify_hashes(const core::ImageSource& disk, std::vector<ImageHash>& hashes,
                   core::Progress* progress, core::Findings& findings);

}  // namespace coldtrace::ntfs
