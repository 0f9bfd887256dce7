#pragma once

#include <optional>
#include <string_view>

#include "pe/image.hpp"

namespace coldtrace::pe {

// Reads the names of a table, which linkers put side by side: bytes that were looked up once serve
// the next names too. All names together are no longer than the file, unless they overlap to make
// a reader slow; some more are read, so that a few damaged ones do not hide the others.
class NameReader {
 public:
  explicit NameReader(const Image& image)
      : image_{image}, budget_{image.file().size() + (u64{1} << 20)} {}

  // NUL-terminated text at `rva`, without the NUL; nothing when it is not stored, has no NUL
  // within the section, is longer than `limit` or exceeds what is left for all names.
  std::optional<std::string_view> read(Rva rva, u64 limit);

  // The `size` bytes at `rva`, or as many of them as the section stores.
  core::ByteView bytes(Rva rva, u64 size);

 private:
  // From `rva` to the end of the window, which is moved there when `rva` lies outside.
  core::ByteView window_at(Rva rva);

  const Image& image_;
  u64 budget_;
  Rva start_{};  // of the window
  core::ByteView window_;
};

}  // namespace coldtrace::pe
