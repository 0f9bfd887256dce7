#pragma once

#include <cstddef>
#include <cstring>

namespace coldtrace::core {

// Copies move whole blocks, and may overwrite up to `copy_spoils` bytes beyond their end.
constexpr std::size_t copy_block = 16;
constexpr std::size_t copy_spoils = 2 * copy_block;
inline void copy_one_block(std::byte* to, const std::byte* from) {
  std::memcpy(to, from, copy_block);
}

// A copy within the output, which must have `copy_spoils` bytes beyond its end.
inline void copy_match(std::byte* out, std::size_t distance, std::size_t length) {
  const std::byte* from = out - distance;
  std::byte* const end = out + length;
  if (distance >= copy_block) {
    copy_one_block(out, from);
    copy_one_block(out + copy_block, from + copy_block);
    for (std::size_t i = copy_spoils; i < length; i += copy_block)
      copy_one_block(out + i, from + i);
    return;
  }
  if (distance == 1) {
    std::memset(out, std::to_integer<int>(*from), length);
    return;
  }
  // A short pattern also repeats at every multiple of its length.
  constexpr std::size_t word = 8;
  if (distance < word) {
    for (std::size_t i = 0; i < word; ++i) *out++ = *from++;
    from = out - distance * ((word + distance - 1) / distance);
  }
  for (; out < end; out += word, from += word) std::memcpy(out, from, word);
}

}  // namespace coldtrace::core
