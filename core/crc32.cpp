#include "core/crc32.hpp"

#include <array>

namespace coldtrace::core {
namespace {

constexpr std::array<u32, 256> make_table(u32 polynomial) {
  std::array<u32, 256> table{};
  for (u32 i = 0; i < 256; ++i) {
    u32 value = i;
    for (int bit = 0; bit < 8; ++bit) value = value & 1 ? value >> 1 ^ polynomial : value >> 1;
    table[i] = value;
  }
  return table;
}

u32 add_bytes(const std::array<u32, 256>& table, u32 crc, ByteView bytes) {
  u32 value = ~crc;
  for (const auto byte : bytes)
    value = value >> 8 ^ table[(value ^ std::to_integer<u32>(byte)) & 0xff];
  return ~value;
}

constexpr auto iso_table = make_table(0xedb8'8320);
constexpr auto castagnoli_table = make_table(0x82f6'3b78);

}  // namespace

u32 crc32(ByteView bytes) {
  return add_bytes(iso_table, 0, bytes);
}

u32 crc32c(ByteView bytes, u32 before) {
  return add_bytes(castagnoli_table, before, bytes);
}

}  // namespace coldtrace::core
