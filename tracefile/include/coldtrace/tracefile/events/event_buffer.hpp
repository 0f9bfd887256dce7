#pragma once

#include <memory>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::tracefile {

// Memory that grows and is reused.
class Scratch {
 public:
  // `size` bytes or more; if it grows, what was there before is lost.
  std::byte* get(std::size_t size);

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0;
};

// A buffer's plain bytes, header included.
struct Buffer {
  Scratch storage;
  core::ByteView bytes;  // shorter than the buffer claims if it is damaged
  bool damaged = false;
  core::ParseError error{core::Fault::io, 0, "", "", 0, 0};  // if damaged
};

}  // namespace coldtrace::tracefile
