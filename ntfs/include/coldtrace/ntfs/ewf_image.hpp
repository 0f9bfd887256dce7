#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"

namespace coldtrace::ntfs {

// The disk in an E01 image. A range in which a chunk fails its checksum, or is in a segment that is
// not there, is an error when it is read.
class EwfSource : public core::ImageSource {
 public:
  // Adds what was found damaged or lost so far, and what could not be read when the image was made.
  virtual void add_findings(core::Findings& findings) const = 0;
};

// Opens an E01 image with all its segments; `path` names any of them. `unsupported` when built
// without libewf.
core::Result<std::unique_ptr<EwfSource>> open_ewf(const std::string& path,
                                                  core::Findings& findings);

// What the segments of an image say of it.
struct EwfSegments {
  std::vector<std::string> damage;  // sentences: which are cut off, which one is missing
  u64 chunks = 0;                   // in all tables before the first damage
};

// Fails when the first of them is not the image's first.
core::Result<EwfSegments> check_ewf_segments(const std::vector<std::string>& segments,
                                             core::Findings& findings);

// The name of the segment behind this one: .E02 for .E01, .EAA for .E99; empty behind the last.
std::string next_ewf_segment(const std::string& path);

}  // namespace coldtrace::ntfs
