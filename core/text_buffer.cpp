#include "core/text_buffer.hpp"

#include <algorithm>
#include <bit>

namespace coldtrace::core {
namespace {

constexpr char digits[] = "0123456789abcdef";

constexpr u64 hundred_million = 100'000'000;

// The eight decimal digits of a number below 100,000,000, a byte each, the first one lowest. All at
// once, as none waits for the one before: halves, then quarters, then digits.
u64 eight_digits(u32 number) {
  constexpr u32 ten_thousand = 10'000;
  const u64 halves = number / ten_thousand | u64{number % ten_thousand} << 32;
  // By 100 and by 10, exact for four and two digits.
  const u64 hundreds = (halves * 10'486 >> 20) & 0x7f'0000'007f;
  const u64 quarters = hundreds | (halves - hundreds * 100) << 16;
  const u64 tens = (quarters * 103 >> 10) & 0x0f'000f'000f'000f;
  return tens | (quarters - tens * 10) << 8;
}

constexpr u64 zeros = 0x3030'3030'3030'3030;

char* write_eight_digits(char* at, u32 number) {
  const u64 text = eight_digits(number) | zeros;
  std::memcpy(at, &text, sizeof(text));
  return at + sizeof(text);
}

// Without leading zeros.
char* write_below_hundred_million(char* at, u32 number) {
  const u64 eight = eight_digits(number);
  const auto leading = static_cast<unsigned>(std::countr_zero(eight | u64{1} << 56)) / 8;
  const u64 text = (eight | zeros) >> leading * 8;
  std::memcpy(at, &text, sizeof(text));
  return at + (sizeof(text) - leading);
}

}  // namespace

char* write_digits(char* at, u64 number) {
  if (number < hundred_million) return write_below_hundred_million(at, static_cast<u32>(number));
  at = write_digits(at, number / hundred_million);
  return write_eight_digits(at, static_cast<u32>(number % hundred_million));
}

char* write_hex(char* at, ByteView bytes) {
  for (const auto byte : bytes) {
    const auto value = std::to_integer<unsigned>(byte);
    *at++ = digits[value >> 4];
    *at++ = digits[value & 0xf];
  }
  return at;
}

void TextBuffer::append_hex(u64 number) {
  const auto count = number == 0 ? 1U : static_cast<unsigned>(std::bit_width(number) + 3) / 4;
  char* const at = reserve(2 + count);
  at[0] = '0';
  at[1] = 'x';
  for (unsigned i = count; i > 0; --i, number >>= 4) at[1 + i] = digits[number & 0xf];
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
