#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/shadow/shadow_copy.hpp"

namespace coldtrace::ntfs {

// The shadow copies of one volume. Damage of one store does not affect the others: blocks whose
// copies are unknown are taken from the next newer copy, or from the present volume, which a
// finding reports.
class ShadowCopies {
 public:
  using Place = ShadowPlace;

  // Nothing if the volume never had shadow copies, or its first bytes cannot be read. `image` must
  // outlive the result.
  [[nodiscard]] static std::optional<ShadowCopies> read(core::Borrowed<core::ImageSource> image,
                                                        Place place, core::Findings& findings);
  ShadowCopies(ShadowCopies&&) noexcept;
  ~ShadowCopies();

  [[nodiscard]] const ShadowHeader& header() const { return header_; }
  [[nodiscard]] std::span<const ShadowCopy> copies() const { return copies_; }

  // The image as it was when the copy with this number was made: bytes of the volume are in the
  // same places, and others as they are now. Lists of blocks are read on first use. The error is
  // `missing` if there is no such copy, or the catalog does not say where its store is, and
  // `unsupported` if that is on another volume. This object must outlive the image.
  core::Result<std::unique_ptr<core::ImageSource>> open(u32 number, core::Findings& findings);

 private:
  struct Lists;
  ShadowCopies(const core::ImageSource& image, Place place, const ShadowHeader& header);

  const core::ImageSource* image_;
  Place place_;
  ShadowHeader header_;
  std::vector<ShadowCopy> copies_;
  std::unique_ptr<Lists> lists_;
};

}  // namespace coldtrace::ntfs
