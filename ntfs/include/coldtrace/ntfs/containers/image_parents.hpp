#pragma once

#include <span>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"

namespace coldtrace::ntfs {

// One of two images that are given together, and those of the given parents that it uses.
struct ImageParents {
  std::string image;
  std::vector<std::string> parents;  // in the order of the chain
};

// Those of the parents from which the image is read; if the image itself is among them, it uses
// those after it. All of them if opening it has to report the problem, as for an image that cannot
// be opened with them, and if it is compressed.
[[nodiscard]] ImageParents choose_parents(const std::string& image,
                                          std::span<const std::string> parents);

// `image-parent`: parents that are neither of the images and that neither uses.
void note_unused_parents(std::span<const std::string> parents, const ImageParents& before,
                         const ImageParents& after, core::Findings& findings);

}  // namespace coldtrace::ntfs
