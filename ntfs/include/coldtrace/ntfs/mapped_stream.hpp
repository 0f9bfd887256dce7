#pragma once

#include <optional>
#include <span>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/extents.hpp"

namespace coldtrace::ntfs {

// The bytes of a stream: from a volume by its run list, or from a file that is a copy of it.
// Positions are bytes of the stream.
class MappedStream {
 public:
  [[nodiscard]] u64 size() const { return size_; }
  // Fills `destination` with the bytes from `position` on; holes are zeros. An error where the
  // stream ends before, or the image cannot be read.
  core::Result<core::Done> read(u64 position, std::span<std::byte> destination) const;
  // The byte of the image that holds a byte of the stream.
  [[nodiscard]] std::optional<u64> offset_of(u64 position) const;

 protected:
  MappedStream(core::Borrowed<core::ImageSource> image, u64 size)
      : image_{&image.get()}, size_{size} {}

  const core::ImageSource* image_;
  u64 size_;
  ClusterMap clusters_;
  std::vector<Extent> extents_;  // none: the file is the stream
};

}  // namespace coldtrace::ntfs
