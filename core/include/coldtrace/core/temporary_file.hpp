#pragma once

#include <memory>
#include <string>

#include "coldtrace/core/image_source.hpp"

namespace coldtrace::core {

// Where temporary files are made: the directory that TMPDIR of the environment names, or /tmp.
[[nodiscard]] std::string temporary_folder();

// A file without a name in temporary_folder(): gone with the object, however the
// program ends.
class TemporaryFile final : public ImageSource {
 public:
  // An error where no file can be made in the folder.
  static Result<std::unique_ptr<TemporaryFile>> create();
  ~TemporaryFile() override;

  // At `offset`, over what is there or beyond its end, which becomes the end; between lie zeros.
  Result<Done> write_at(u64 offset, ByteView bytes);
  // Writes behind what is there.
  Result<Done> append(ByteView bytes) { return write_at(size_, bytes); }

  [[nodiscard]] u64 size() const override { return size_; }
  // By which this process and its children open the file.
  [[nodiscard]] std::string path() const;
  Result<Done> read_at(u64 offset, std::span<std::byte> destination) const override;

 private:
  explicit TemporaryFile(int descriptor) : descriptor_{descriptor} {}

  int descriptor_;
  u64 size_ = 0;
};

// A range of a temporary file, which lives as long as its parts.
class TemporaryPart final : public ImageSource {
 public:
  TemporaryPart(std::shared_ptr<const TemporaryFile> file, u64 start, u64 size)
      : file_{std::move(file)}, start_{start}, size_{size} {}

  [[nodiscard]] u64 size() const override { return size_; }
  // Of a part that is all of the file; else empty.
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

// By which a source is opened as a file, as long as it lives; empty where it is not all of a
// temporary file.
[[nodiscard]] std::string temporary_path(const ImageSource& source);

// What a pipe or socket hands out until it ends, in a temporary file; more than `limit` bytes are
// not read, which `cut` then says.
struct Spooled {
  std::unique_ptr<TemporaryFile> file;
  bool cut = false;
};
Result<Spooled> spool(int descriptor, u64 limit);

}  // namespace coldtrace::core
