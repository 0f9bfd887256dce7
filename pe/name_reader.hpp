#pragma once

#include <optional>
#include <string_view>

#include "pe/window.hpp"

namespace coldtrace::pe {

// Reads the names of a table. All together are no longer than the file, unless they overlap to make
// a reader slow; some more are read, so that a few damaged ones do not hide the others.
class NameReader {
 public:
  explicit NameReader(const Image& image)
      : image_{image}, window_{image}, budget_{image.file().size() + (u64{1} << 20)} {}

  // NUL-terminated text at `rva`, without the NUL; nothing when it is not stored, has no NUL
  // within the section, is longer than `limit` or exceeds what is left for all names.
  std::optional<std::string_view> read(Rva rva, u64 limit);

  // Where the names lie, for what is stored between them.
  Window& window() { return window_; }

 private:
  const Image& image_;
  Window window_;
  u64 budget_;
};

}  // namespace coldtrace::pe
