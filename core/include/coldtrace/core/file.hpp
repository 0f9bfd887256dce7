#pragma once

#include <memory>
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

// A whole file in memory. More than `cap` bytes is the error `limit`; errors of the operating
// system are `io`. Pipes are read to their end.
Result<std::vector<std::byte>> read_whole_file(const std::string& path, u64 cap);

}  // namespace coldtrace::core
