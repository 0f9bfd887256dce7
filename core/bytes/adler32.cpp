#include <algorithm>

#include "coldtrace/core/checksums.hpp"

namespace coldtrace::core {
namespace {

constexpr u32 modulus = 65521;
constexpr std::size_t most_before_overflow = 5552;  // as zlib has it

}  // namespace

u32 adler32(ByteView bytes, u32 start) {
  u32 low = start & 0xffff;
  u32 high = start >> 16;
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), most_before_overflow));
    for (const auto byte : part) {
      low += std::to_integer<u32>(byte);
      high += low;
    }
    low %= modulus;
    high %= modulus;
    bytes = bytes.subspan(part.size());
  }
  return high << 16 | low;
}

}  // namespace coldtrace::core
