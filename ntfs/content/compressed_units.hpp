#pragma once

#include <mutex>
#include <vector>

#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/extents.hpp"

namespace coldtrace::ntfs {

// An LZNT1 stream in units of clusters: a unit with all its clusters is stored uncompressed, one
// with none is zeros, any other is compressed. The last unit read is kept.
class CompressedUnits {
 public:
  // `unit` is in clusters, `size` is the valid size of the stream.
  CompressedUnits(const core::ImageSource& image, const ClusterMap& clusters,
                  const std::vector<Extent>& extents, u64 unit, u64 size)
      : image_{image}, clusters_{clusters}, extents_{extents}, unit_{unit}, size_{size} {}

  // The whole range lies below the size.
  core::Result<core::Done> read(u64 position, std::span<std::byte> destination) const;

 private:
  core::Result<core::Done> load(u64 index) const;
  core::Result<u64> count_clusters(u64 index) const;
  core::Result<core::Done> decompress(u64 start, core::ByteView compressed) const;

  const core::ImageSource& image_;
  const ClusterMap& clusters_;
  const std::vector<Extent>& extents_;
  u64 unit_;
  u64 size_;
  mutable std::mutex mutex_;
  mutable std::optional<u64> loaded_;
  mutable std::vector<std::byte> plain_;
};

}  // namespace coldtrace::ntfs
