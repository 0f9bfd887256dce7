#pragma once

#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// Some of an image's bytes by RVA, for readers of many small things that lie side by side: the
// section is looked up and loaded when they leave what is there in one piece.
class Window {
 public:
  explicit Window(const Image& image) : image_{image} {}

  // From `rva` to the end of the window, which is moved there when `rva` lies outside; empty for
  // what is not stored.
  core::ByteView at(Rva rva) {
    if (value(rva) - value(start_) >= bytes_.size()) {  // also when it lies before the window
      const auto piece = image_.addresses().piece(rva);
      start_ = piece.start;
      bytes_ = piece.bytes;
      if (bytes_.empty()) return {};
    }
    return bytes_.subspan(value(rva) - value(start_));
  }

  // The `count` bytes at `rva`, or as many of them as the section stores.
  core::ByteView bytes(Rva rva, u64 count) {
    const auto near = at(rva);
    return near.size() < count ? image_.addresses().tail(rva, count) : near.first(count);
  }

 private:
  const Image& image_;
  Rva start_{};
  core::ByteView bytes_;
};

}  // namespace coldtrace::pe
