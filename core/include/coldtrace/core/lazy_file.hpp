#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/file.hpp"
#include "coldtrace/core/reader.hpp"

namespace coldtrace::core {

class Findings;

// A small file (a PE image, a PDB) of which only the blocks that are looked at are read: the header
// and a few tables of a large DLL cost no more than they would in a small one. Not mapped, so that
// a file that shrinks is an error and does not kill the process. For one thread at a time.
class LazyFile {
 public:
  // More than `cap` bytes are the error `limit`. Anything but a regular file is read whole.
  static Result<std::unique_ptr<LazyFile>> open(const std::string& path, u64 cap);
  LazyFile(const LazyFile&) = delete;
  LazyFile& operator=(const LazyFile&) = delete;
  ~LazyFile();

  [[nodiscard]] u64 size() const { return size_; }

  // The `length` bytes at `offset`, all inside the file, or those before the first block that
  // cannot be read. The view stays valid as long as the file.
  [[nodiscard]] ByteView clip(u64 offset, u64 length) const {
    if (length == 0) return {};
    const u64 first = offset / block_size;
    const u64 last = (offset + length - 1) / block_size;
    if (!is_one_piece(first, last)) gather(first, last + 1);
    if (error_) length = readable(offset, length);
    return {blocks_[first] + offset % block_size, length};
  }

  // Some bytes of the file that are contiguous in memory.
  struct Piece {
    u64 offset;
    ByteView bytes;
  };
  // The piece around the byte at `offset`, which lies inside the file; empty if the byte cannot be
  // read.
  [[nodiscard]] Piece piece(u64 offset) const;

  // The first range that could not be read so far, if there is one.
  [[nodiscard]] const std::optional<ParseError>& error() const { return error_; }

  // From now on the first range that cannot be read is a finding in `findings`, whoever reads it:
  // `unreadable-range` (core/unreadable.hpp). They have to outlive the file.
  void tell(Findings& findings) { told_ = &findings; }

 private:
  // One page: what a single string or function costs.
  static constexpr u64 block_size = 4 << 10;

  LazyFile() = default;
  bool is_one_piece(u64 first, u64 last) const {
    const auto* const start = blocks_[first];
    if (!start) return false;
    for (u64 i = first + 1; i <= last; ++i)
      if (blocks_[i] != start + (i - first) * block_size) return false;
    return true;
  }
  void gather(u64 first, u64 end) const;
  std::byte* take(u64 size) const;
  void read(u64 first, u64 end, std::byte* to) const;
  u64 readable(u64 offset, u64 length) const;

  struct Chunk {
    std::unique_ptr<std::byte[]> bytes;
    u64 size = 0;
  };
  // What a file leaves to a later one.
  struct Buffers {
    Chunk chunk;
    std::vector<std::byte*> blocks;
  };
  class KeptBuffers;
  static KeptBuffers kept;

  u64 size_ = 0;
  std::unique_ptr<FileImage> file_;  // null when whole_ has it all
  std::vector<std::byte> whole_;
  mutable std::vector<std::byte*> blocks_;  // where each one is; null before it is read
  mutable std::vector<Chunk> chunks_;       // what they lie in, in order
  mutable Chunk left_;                      // of an earlier file, for the next of these
  mutable std::byte* top_ = nullptr;        // the first free byte of the last chunk
  mutable u64 room_ = 0;                    // from there to its end
  mutable u64 taken_ = 0;                   // of all chunks
  mutable std::optional<ParseError> error_;
  Findings* told_ = nullptr;
  mutable std::vector<bool> unreadable_;  // per block, once there is an error
};

// A view of a file's bytes, whether they are in memory already or read lazily.
class FileView {
 public:
  FileView() = default;
  template <OutlivesStatement<std::byte> Bytes>
  // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload)
  FileView(Bytes&& bytes) : bytes_{std::forward<Bytes>(bytes)} {
    size_ = bytes_.size();
  }
  FileView(const LazyFile& file)  // NOLINT(*-explicit-*)
      : size_{file.size()}, file_{&file} {}

  [[nodiscard]] u64 size() const { return size_; }

  // The `length` bytes at `offset`, or nothing unless all of them lie inside the file and can be
  // read.
  [[nodiscard]] std::optional<ByteView> slice(u64 offset, u64 length) const {
    if (!contains(offset, length)) return std::nullopt;
    const auto bytes = get(offset, length);
    return bytes.size() == length ? std::optional{bytes} : std::nullopt;
  }

  [[nodiscard]] bool contains(u64 offset, u64 length) const {
    return offset <= size_ && length <= size_ - offset;
  }

  // As much of that range as lies inside the file, up to the first byte that cannot be read.
  [[nodiscard]] ByteView clip(u64 offset, u64 length) const {
    offset = offset < size_ ? offset : size_;
    return get(offset, length < size_ - offset ? length : size_ - offset);
  }

  // The first range that could not be read so far, if there is one: clip() ends before it.
  [[nodiscard]] const ParseError* error() const {
    return file_ && file_->error() ? &*file_->error() : nullptr;
  }

  // The whole file; nothing when some of it cannot be read.
  [[nodiscard]] std::optional<ByteView> all() const { return slice(0, size_); }

  // The piece around the byte at `offset`, which lies inside the file: the bytes that cost nothing
  // beyond reading this one. Empty if it cannot be read.
  [[nodiscard]] LazyFile::Piece piece(u64 offset) const {
    return file_ ? file_->piece(offset) : LazyFile::Piece{0, bytes_};
  }

 private:
  ByteView get(u64 offset, u64 length) const {
    return file_ ? file_->clip(offset, length) : bytes_.subspan(offset, length);
  }

  u64 size_ = 0;
  ByteView bytes_;
  const LazyFile* file_ = nullptr;
};

}  // namespace coldtrace::core
