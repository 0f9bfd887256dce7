#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/file.hpp"
#include "core/reader.hpp"

namespace coldtrace::core {

// A small file (a PE image, a PDB) in memory, of which only the blocks that are looked at are
// read: the header and a few tables of a large DLL cost as little as they are. Not mapped, so
// that a file that shrinks is an error and not the end of the process. One thread at a time.
class LazyFile {
 public:
  // More than `cap` bytes is the error `limit`. What is no regular file is read whole.
  static Result<std::unique_ptr<LazyFile>> open(const std::string& path, u64 cap);
  LazyFile(const LazyFile&) = delete;
  LazyFile& operator=(const LazyFile&) = delete;
  ~LazyFile();

  u64 size() const { return unloaded().size(); }

  // Reads what is missing of a range; bytes outside the file are left aside. Bytes that cannot be
  // read stay zero, and error() says so.
  void load(u64 offset, u64 length) const;

  // The place of the whole file in memory. Bytes that were not loaded are not defined.
  ByteView unloaded() const { return file_ ? ByteView{memory_, size_} : ByteView{whole_}; }

  // All bytes, loaded.
  ByteView all() const;

  // The first range that could not be read, if any.
  const std::optional<ParseError>& error() const { return error_; }

 private:
  LazyFile() = default;
  bool take_pages(u64 size);
  void read(u64 first_block, u64 end_block) const;

  std::unique_ptr<FileImage> file_;  // none when all is in whole_
  std::vector<std::byte> whole_;
  std::byte* memory_ = nullptr;  // anonymous pages, which cost nothing until they are filled
  u64 size_ = 0;
  mutable std::vector<bool> loaded_;  // by block
  mutable std::vector<bool> filled_;  // blocks of memory_ that this file or another has filled
  mutable std::optional<ParseError> error_;
};

// The bytes of a file, in memory already or lazy: the way to look at either.
class FileView {
 public:
  FileView() = default;
  FileView(ByteView bytes) : bytes_{bytes} {}    // NOLINT(google-explicit-constructor)
  FileView(const std::vector<std::byte>& bytes)  // NOLINT(google-explicit-constructor)
      : bytes_{bytes} {}
  FileView(const LazyFile& file)  // NOLINT(google-explicit-constructor)
      : bytes_{file.unloaded()}, file_{&file} {}

  u64 size() const { return bytes_.size(); }

  // The `length` bytes at `offset`, or nothing when they do not all lie inside the file.
  std::optional<ByteView> slice(u64 offset, u64 length) const {
    const auto view = core::slice(bytes_, offset, length);
    if (view && file_) file_->load(offset, length);
    return view;
  }

  bool contains(u64 offset, u64 length) const {
    return core::slice(bytes_, offset, length).has_value();
  }

  // As much of that as lies inside the file.
  ByteView clip(u64 offset, u64 length) const {
    offset = offset < size() ? offset : size();
    length = length < size() - offset ? length : size() - offset;
    return slice(offset, length).value_or(ByteView{});
  }

  ByteView all() const { return file_ ? file_->all() : bytes_; }

 private:
  ByteView bytes_;
  const LazyFile* file_ = nullptr;
};

}  // namespace coldtrace::core
