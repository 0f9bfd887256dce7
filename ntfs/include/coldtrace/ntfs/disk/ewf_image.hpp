#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/disk/ewf_patch.hpp"

namespace coldtrace::ntfs {

// A hash of a disk that its image contains.
struct StoredHash {
  std::string_view algorithm;  // "md5", "sha1" or "sha256"
  std::string value;           // lower-case hexadecimal
};

// The disk in an E01 image. Reading a range in which a chunk fails its checksum, or that is lost
// with a segment, is an error.
class EwfSource : public core::ImageSource {
 public:
  // Adds findings for damage and losses so far, and for what could not be read when the image was
  // made.
  virtual void add_findings(core::Findings& findings) const = 0;

  // The stored hashes of the whole disk from when the image was made; nothing if its last segment
  // is missing. A text that is not a hash is a warning.
  [[nodiscard]] virtual std::vector<StoredHash> hashes(core::Findings& findings) const = 0;
};

// Opens an E01 image with all its segments; `path` names any of them. `unsupported` when built
// without libewf.
core::Result<std::unique_ptr<EwfSource>> open_ewf(const std::string& path,
                                                  core::Findings& findings);

// Whether a file is the first segment of an image, by its name and its first section, whatever its
// file header says.
[[nodiscard]] bool is_first_ewf_segment(const std::string& path, const core::ImageSource& file);

// What the segments of an image say about it.
struct EwfSegments {
  struct Damage {
    std::string text;     // which segment is damaged, truncated or missing
    bool loses;           // loses chunks, unless all are found
    std::size_t segment;  // counted from 0
  };
  std::vector<Damage> damage;   // damage that loses chunks first
  std::vector<Damage> renamed;  // segments with the names of others, according to their headers
  // Number of chunks in the tables up to the end of each segment, for segments whose chunks are
  // where they belong.
  std::vector<u64> chunks;
  std::vector<std::vector<EwfPatch>> patches;  // for each segment
  // Make libewf skip the case notes of the first segment.
  std::vector<EwfPatch> without_notes;
};

// Fails when the first of them is not the image's first, or one cannot be read; which that is, of
// later ones, is a finding.
core::Result<EwfSegments> check_ewf_segments(const std::vector<std::string>& segments,
                                             core::Findings& findings);

// The name of the next segment: .E02 for .E01, .EAA for .E99; empty after the last.
[[nodiscard]] std::string next_ewf_segment(const std::string& path);

}  // namespace coldtrace::ntfs
