#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output/json.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/progress.hpp"
#include "coldtrace/ntfs/image_file.hpp"

namespace coldtrace::cli {

// A hash of the whole disk that its image states, in hexadecimal.
struct ImageHash {
  std::string_view algorithm;  // "md5", "sha1" or "sha256"
  std::string stored;
  std::optional<std::string> computed;  // of all that can be read
};

// Those of an E01 image; other images have none.
std::vector<ImageHash> stored_hashes(const ntfs::ImageFile& image, core::Findings& findings);

// Reads the whole disk. A hash that differs is a warning, and so is a disk that cannot be read to
// its end, or of which nothing is stated.
void verify_hashes(const core::ImageSource& disk, std::vector<ImageHash>& hashes,
                   core::Progress* progress, core::Findings& findings);

// The member "hashes".
void write_hashes(JsonWriter& json, const std::vector<ImageHash>& hashes);
// "  MD5 d41d8cd98f00b204e9800998ecf8427e, which is that of the bytes\n"
std::string hash_text(const ImageHash& hash);

}  // namespace coldtrace::cli
