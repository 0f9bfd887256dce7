#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::core {

// Bytes at a fixed place that identify a kind of file.
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

// A number of two or four bytes, the most significant first.
template <class T>
std::optional<u32> load_big(ByteView bytes, u64 offset) {
  const auto value = load<T>(bytes, offset);
  if (!value) return std::nullopt;
  return sizeof(T) == 2 ? u32{__builtin_bswap16(static_cast<u16>(*value))}
                        : __builtin_bswap32(static_cast<u32>(*value));
}

}  // namespace coldtrace::core
