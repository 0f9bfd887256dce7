#include "coldtrace/core/skippable_frames.hpp"

#include <algorithm>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::core {

u64 behind_skippable_frames(
    u64 size, const std::function<std::vector<std::byte>(u64 offset, u64 length)>& read) {
  constexpr u64 header_size = 8;
  constexpr int most_frames = 64;
  u64 at = 0;
  for (int frame = 0; frame < most_frames && at < size; ++frame) {
    const auto header = read(at, std::min(header_size, size - at));
    const auto length = load<u32>(header, 4);
    if (!length || (load<u32>(header, 0).value_or(0) & 0xfffffff0) != 0x184d2a50) break;
    at += std::min(size - at, header_size + *length);
  }
  return at;
}

}  // namespace coldtrace::core
