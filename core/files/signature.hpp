#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::core {

// Bytes at a fixed place that tell a kind of file.
template <class Kind>
struct SignatureOf {
  Kind kind;
  u64 offset;
  std::string_view bytes;
};

inline bool matches(ByteView bytes, u64 offset, std::string_view expected) {
  const auto part = slice(bytes, offset, expected.size());
  return part && to_chars(*part) == expected;
}

inline bool is_zero(ByteView bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace coldtrace::core
