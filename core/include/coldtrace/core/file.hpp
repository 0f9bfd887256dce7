#pragma once

#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "coldtrace/core/image_source.hpp"

namespace coldtrace::core {

// A file or block device, read with pread.
class FileImage final : public ImageSource {
 public:
  // Fails with `io` when the path cannot be opened, or is a directory (EISDIR), a pipe or a socket
  // (ESPIPE).
  static Result<std::unique_ptr<FileImage>> open(const std::string& path);
  ~FileImage() override;

  [[nodiscard]] u64 size() const override { return size_; }
  [[nodiscard]] u64 next_data(u64 offset) const override;
  Result<Done> read_at(u64 offset, std::span<std::byte> destination) const override;

 private:
  FileImage(int descriptor, u64 size) : descriptor_{descriptor}, size_{size} {}

  int descriptor_;
  u64 size_;
};

// Memory for bytes that are read from files many at a time: reused, not zeroed, and at the start of
// a page. Large vectors start 16 bytes behind one, where the kernel copies pages to at a fifth of
// the speed on AMD's Zen 3 (bench/compare-python).
class ReadBuffer {
 public:
  // The first `size` bytes. What an earlier call gave is valid until more are requested.
  [[nodiscard]] std::span<std::byte> first(std::size_t size) {
    if (size > size_) grow(size);
    return {bytes_.get(), size};
  }

 private:
  static constexpr std::align_val_t page{4096};
  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete(bytes, page); }
  };

  void grow(std::size_t size) {
    bytes_.reset();
    size_ = 0;
    bytes_.reset(static_cast<std::byte*>(::operator new(size, page)));
    size_ = size;
  }

  std::unique_ptr<std::byte, Free> bytes_;
  std::size_t size_ = 0;
};

// A whole file in memory. More than `cap` bytes is the error `limit`; errors of the operating
// system are `io`. Pipes are read to their end.
Result<std::vector<std::byte>> read_whole_file(const std::string& path, u64 cap);

}  // namespace coldtrace::core
