#pragma once

#include <span>
#include <utility>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/result.hpp"

namespace coldtrace::core {

// Bytes of a file or stream.
struct ByteRange {
  u64 offset;
  u64 length;
};

// Bytes that may not fit in memory: a disk image, a block device, a trace. Read at offsets, never
// mapped: a file that shrinks while mapped kills the process.
class ImageSource {
 public:
  ImageSource() = default;
  ImageSource(const ImageSource&) = delete;
  ImageSource& operator=(const ImageSource&) = delete;
  virtual ~ImageSource() = default;

  [[nodiscard]] virtual u64 size() const = 0;

  // How many bytes from the start exist. Less than the size if the end of what the source stands
  // for is lost: every read beyond them fails.
  [[nodiscard]] virtual u64 available() const { return size(); }

  // Ranges that can be read but not relied on, sorted by offset and not adjacent: the disk could
  // not be read there when its image was made.
  [[nodiscard]] virtual std::span<const ByteRange> unreliable() const { return {}; }

  // The next offset, from `offset` on, of bytes that are not known to be zeros without reading:
  // `offset` itself outside the holes of a sparse file, the size if none follow.
  [[nodiscard]] virtual u64 next_data(u64 offset) const { return offset; }

  // Fills all of `destination` with the bytes at `offset`, or fails: with `out_of_bounds` when the
  // range is not inside the source, with `io` when it cannot be read. Safe to call from several
  // threads at once.
  virtual Result<Done> read_at(u64 offset, std::span<std::byte> destination) const = 0;

 protected:
  // The error of a range that is not inside the source, or nothing.
  std::optional<ParseError> check_range(u64 offset, u64 length) const;
};

// Whether some of `size` bytes cannot be relied on.
[[nodiscard]] bool is_unreliable(const ImageSource& source, u64 offset, u64 size);

// Fills `destination` up to its first sector that cannot be read; returns the number of bytes read.
[[nodiscard]] std::size_t read_before_error(const ImageSource& source, u64 offset,
                                            std::span<std::byte> destination);

// The first error of reading all of a source from its start; nothing where all can be read.
[[nodiscard]] std::optional<ParseError> find_read_error(const ImageSource& source);

// Whether `size` bytes at a place of each are equal; fails if either cannot be read before a
// difference is found.
Result<bool> has_same_bytes(const ImageSource& one, u64 one_offset, const ImageSource& other,
                            u64 other_offset, u64 size);

// Whether both have the same size and the same bytes.
Result<bool> has_same_bytes(const ImageSource& one, const ImageSource& other);

// A view of memory.
class MemoryImage final : public ImageSource {
 public:
  explicit MemoryImage(BorrowedBytes bytes) : bytes_{bytes.get()} {}
  [[nodiscard]] u64 size() const override { return bytes_.size(); }
  Result<Done> read_at(u64 offset, std::span<std::byte> destination) const override;

 private:
  ByteView bytes_;
};

}  // namespace coldtrace::core
