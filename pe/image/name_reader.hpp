#pragma once

#include <algorithm>
#include <string_view>

#include "coldtrace/core/text.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// Reads the names of a table. Together they are no longer than the file, unless they overlap to
// make a reader slow or its output large; a little more is read, so that a few damaged names do not
// hide the others.
class NameReader {
 public:
  explicit NameReader(const Image& image)
      : image_{image}, window_{image}, budget_{image.file().size() * 2 + (u64{64} << 10)} {}

  // The NUL-terminated text at `rva`, without the NUL. data() is null when it is not stored, has no
  // NUL within the section, is longer than `limit` or exceeds what is left for all names: unlike an
  // optional, a view is returned in registers.
  std::string_view read(Rva rva, u64 limit) {
    limit = std::min(limit, budget_);
    const auto near = core::to_chars(window_.at(rva));
    const auto size = near.substr(0, limit + 1).find('\0');
    if (size == std::string_view::npos) return read_beyond_window(rva, limit);
    budget_ -= size;
    return near.substr(0, size);
  }

  // The window in which the names lie, for what is stored between them.
  Image::Window& window() { return window_; }

 private:
  std::string_view read_beyond_window(Rva rva, u64 limit);

  const Image& image_;
  Image::Window window_;
  u64 budget_;
};

}  // namespace coldtrace::pe
