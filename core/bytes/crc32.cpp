#include <array>

#include "coldtrace/core/checksums.hpp"

namespace coldtrace::core {
namespace {

constexpr std::array<u32, 256> make_table() {
  std::array<u32, 256> table{};
  for (u32 i = 0; i < 256; ++i) {
    u32 value = i;
    for (int bit = 0; bit < 8; ++bit) value = value & 1 ? value >> 1 ^ 0xedb8'8320 : value >> 1;
    table[i] = value;
  }
  return table;
}

constexpr auto table = make_table();

}  // namespace

u32 crc32(ByteView bytes) {
  u32 value = ~u32{0};
  for (const auto byte : bytes)
    value = value >> 8 ^ table[(value ^ std::to_integer<u32>(byte)) & 0xff];
  return ~value;
}

}  // namespace coldtrace::core
