#pragma once

#include "coldtrace/core/reader.hpp"

namespace coldtrace::core {

// What a decompressor produced: how many bytes are certain to be right, and why there are no more.
struct Decompressed {
  std::size_t size = 0;  // bytes written, all of them right
  bool damaged = false;
  ParseError error{Fault::bad_value, 0, "", "", 0, 0};  // when damaged
};

}  // namespace coldtrace::core
