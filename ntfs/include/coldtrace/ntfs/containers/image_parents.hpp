#pragma once

#include <span>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"

namespace coldtrace::ntfs {

// An image of two that are given together, and which of the parents given with them it rests on.
struct ImageParents {
  std::string image;
  std::vector<std::string> parents;  // in the order of the chain
};

// Of these parents those that the image is read from: one that is among them itself rests on those
// behind it. All of them where its opening has to tell what is wrong, as of an image that cannot be
// opened with them, and where it is packed.
[[nodiscard]] ImageParents choose_parents(const std::string& image,
                                          std::span<const std::string> parents);

// `image-parent`: parents that are neither image, and that neither rests on.
void note_unused_parents(std::span<const std::string> parents, const ImageParents& before,
                         const ImageParents& after, core::Findings& findings);

}  // namespace coldtrace::ntfs
