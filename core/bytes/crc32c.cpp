#include "coldtrace/core/crc32c.hpp"

#include <array>

namespace coldtrace::core {
namespace {

using Table = std::array<u32, 256>;

// Table `n` is of a byte that `n` zero bytes follow, so that eight bytes are looked up at once.
constexpr std::array<Table, 8> make_tables() {
  std::array<Table, 8> tables{};
  for (u32 i = 0; i < 256; ++i) {
    u32 value = i;
    for (int bit = 0; bit < 8; ++bit) value = value & 1 ? value >> 1 ^ 0x82f6'3b78 : value >> 1;
    tables[0][i] = value;
  }
  for (std::size_t n = 1; n < tables.size(); ++n)
    for (u32 i = 0; i < 256; ++i)
      tables[n][i] = tables[n - 1][i] >> 8 ^ tables[0][tables[n - 1][i] & 0xff];
  return tables;
}

constexpr auto tables = make_tables();

}  // namespace

u32 crc32c(u32 before, ByteView bytes) {
  u32 value = ~before;
  while (bytes.size() >= 8) {
    const u64 word = *load<u64>(bytes, 0) ^ value;
    value = 0;
    for (std::size_t i = 0; i < 8; ++i) value ^= tables[7 - i][word >> 8 * i & 0xff];
    bytes = bytes.subspan(8);
  }
  for (const auto byte : bytes)
    value = value >> 8 ^ tables[0][(value ^ std::to_integer<u32>(byte)) & 0xff];
  return ~value;
}

u32 crc32c(ByteView bytes) {
  return crc32c(0, bytes);
}

}  // namespace coldtrace::core
