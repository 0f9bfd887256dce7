#pragma once

#include <memory>

#include "coldtrace/core/image_source.hpp"

namespace coldtrace::core {

// A file without a name in the directory TMPDIR or /tmp: gone with the object, however the
// program ends.
class TemporaryFile final : public ImageSource {
 public:
  static Result<std::unique_ptr<TemporaryFile>> create();
  ~TemporaryFile() override;

  Result<Done> write_at(u64 offset, ByteView bytes);
  // Writes behind what is there.
  Result<Done> append(ByteView bytes) { return write_at(size_, bytes); }

  u64 size() const override { return size_; }
  Result<Done> read_at(u64 offset, std::span<std::byte> destination) const override;

 private:
  explicit TemporaryFile(int descriptor) : descriptor_{descriptor} {}

  int descriptor_;
  u64 size_ = 0;
};

}  // namespace coldtrace::core
