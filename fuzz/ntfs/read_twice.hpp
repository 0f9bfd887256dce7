#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "coldtrace/core/image_source.hpp"

namespace coldtrace::fuzz {

// Whether a stretch of a source can be read at once, and in pieces.
struct ReadTwice {
  core::Result<core::Done> whole;
  bool pieces = true;
};

// What is read at once is what is read in pieces.
inline ReadTwice read_twice(const core::ImageSource& source, u64 begin, u64 end, u64 piece) {
  // Large memory that is given back and taken again is most of what an execution costs. Its size is
  // exact, so that AddressSanitizer sees what is written behind it.
  static std::vector<std::byte> whole, part;
  if (whole.size() != end - begin) whole = std::vector<std::byte>(end - begin);
  if (part.size() != piece) part = std::vector<std::byte>(piece);
  ReadTwice done{source.read_at(begin, whole)};
  for (u64 at = 0; at < whole.size(); at += piece) {
    const auto some = std::span{part}.first(std::min(piece, whole.size() - at));
    const bool one = source.read_at(begin + at, some).has_value();
    done.pieces &= one;
    // By one call, not a byte a step.
    if (done.whole && one && std::memcmp(some.data(), whole.data() + at, some.size()) != 0)
      __builtin_trap();
  }
  if (done.whole && !done.pieces) __builtin_trap();
  return done;
}

}  // namespace coldtrace::fuzz
