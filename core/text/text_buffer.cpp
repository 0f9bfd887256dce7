#include "coldtrace/core/text_buffer.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace coldtrace::core {
namespace {

// The eight hexadecimal digits of a number, a byte each, the first one lowest. All at once, as none
// waits for the one before (bench/compare-trace).
u64 eight_hex_digits(u32 number) {
  constexpr u64 ones = 0x0101'0101'0101'0101;
  constexpr u64 letter = 'a' - '0' - 10;
  u64 digits = number;
  digits = (digits | digits << 16) & 0x0000'ffff'0000'ffff;
  digits = (digits | digits << 8) & 0x00ff'00ff'00ff'00ff;
  digits = (digits | digits << 4) & 0x0f0f'0f0f'0f0f'0f0f;
  const u64 letters = (digits + ones * 6) >> 4 & ones;
  return __builtin_bswap64(digits + ones * '0' + letters * letter);
}

}  // namespace

void TextBuffer::append_hex(u64 number) {
  const auto count = number == 0 ? 1U : static_cast<unsigned>(std::bit_width(number) + 3) / 4;
  const u64 from_the_first = number << (16 - count) * 4;
  const u64 high = eight_hex_digits(static_cast<u32>(from_the_first >> 32));
  const u64 low = eight_hex_digits(static_cast<u32>(from_the_first));
  char* const at = reserve(2 + sizeof(high) + sizeof(low));
  at[0] = '0';
  at[1] = 'x';
  std::memcpy(at + 2, &high, sizeof(high));
  std::memcpy(at + 2 + sizeof(high), &low, sizeof(low));
  commit(2 + count);
}

void TextBuffer::grow(std::size_t count) {
  const auto capacity = std::max({capacity_ * 2, size_ + count, std::size_t{256}});
  std::unique_ptr<char[]> larger{new char[capacity]};
  if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_);
  data_ = std::move(larger);
  capacity_ = capacity;
}

}  // namespace coldtrace::core
