#pragma once

#include <span>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/mapped_stream.hpp"

namespace coldtrace::ntfs {

// The bytes of a change journal: the stream $J of a volume by its run list, or a copy of it in a
// file. It starts with one hole that may be a thousand times as long as its contents, so holes are
// never read.
class JournalStream : public MappedStream {
 public:
  static constexpr u64 block_size = u64{1} << 20;  // and blocks start at multiples of it

  // A copy in a file, which must outlive the stream.
  [[nodiscard]] static JournalStream of_file(core::Borrowed<core::ImageSource> file);

  // The first `size` bytes of a stream of a volume. Runs that map more than the image has are left
  // out, with a finding.
  [[nodiscard]] static JournalStream of_volume(core::Borrowed<core::ImageSource> image,
                                               const ClusterMap& clusters,
                                               std::vector<Extent> extents, u64 size,
                                               core::Findings& findings);

  // Where there may be data, in order, each inside one block and of whole pages except at the end.
  [[nodiscard]] std::span<const core::ByteRange> blocks() const { return blocks_; }

 private:
  using MappedStream::MappedStream;
  void add_pages(u64 start, u64 end);

  std::vector<core::ByteRange> blocks_;
};

}  // namespace coldtrace::ntfs
