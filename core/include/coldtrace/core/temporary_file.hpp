#pragma once

#include <memory>
#include <string>

#include "coldtrace/core/image_source.hpp"
#include "coldtrace/core/progress.hpp"

namespace coldtrace::core {

// Where temporary files are created: the directory that the environment variable TMPDIR names, or
// /tmp.
[[nodiscard]] std::string temporary_folder();

// An unnamed file in temporary_folder(): gone with the object, however the program ends.
class TemporaryFile final : public ImageSource {
 public:
  // Fails when no file can be created in the folder.
  static Result<std::unique_ptr<TemporaryFile>> create();
  ~TemporaryFile() override;

  // Writes at `offset`, which may lie beyond the end: the gap is filled with zeros.
  Result<Done> write_at(u64 offset, ByteView bytes);
  // Writes at the end.
  Result<Done> append(ByteView bytes) { return write_at(size_, bytes); }

  [[nodiscard]] u64 size() const override { return size_; }
  // The path by which this process and its children can open the file.
  [[nodiscard]] std::string path() const;
  Result<Done> read_at(u64 offset, std::span<std::byte> destination) const override;

 private:
  explicit TemporaryFile(int descriptor) : descriptor_{descriptor} {}

  int descriptor_;
  u64 size_ = 0;
};

// A range of a temporary file, which it keeps alive.
class TemporaryPart final : public ImageSource {
 public:
  TemporaryPart(std::shared_ptr<const TemporaryFile> file, u64 start, u64 size)
      : file_{std::move(file)}, start_{start}, size_{size} {}

  [[nodiscard]] u64 size() const override { return size_; }
  // The path of the file if the part is all of it, else empty.
  [[nodiscard]] std::string path() const {
    return start_ == 0 && size_ == file_->size() ? file_->path() : std::string{};
  }
  Result<Done> read_at(u64 offset, std::span<std::byte> destination) const override {
    if (const auto error = check_range(offset, destination.size())) return fail(*error);
    return file_->read_at(start_ + offset, destination);
  }

 private:
  std::shared_ptr<const TemporaryFile> file_;
  u64 start_, size_;
};

// The path by which a source can be opened as a file while it lives; empty unless the source is a
// whole temporary file.
[[nodiscard]] std::string temporary_path(const ImageSource& source);

// All that a pipe or socket delivers, in a temporary file. At most `limit` bytes are read; `cut` if
// there were more. `progress` may be null.
struct Spooled {
  std::unique_ptr<TemporaryFile> file;
  bool cut = false;
};
Result<Spooled> spool(int descriptor, u64 limit, Progress* progress = nullptr);

}  // namespace coldtrace::core
