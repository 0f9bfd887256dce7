#include "core/text_buffer.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace coldtrace::core {
namespace {

// "00" to "99".
constexpr auto pairs = [] {
  std::array<char, 200> text{};
  for (std::size_t i = 0; i < 100; ++i) {
    text[i * 2] = static_cast<char>('0' + i / 10);
    text[i * 2 + 1] = static_cast<char>('0' + i % 10);
  }
  return text;
}();
constexpr char digits[] = "0123456789abcdef";

constexpr auto powers_of_ten = [] {
  std::array<u64, 20> powers{};
  u64 power = 1;
  for (auto& entry : powers) {
    entry = power;
    power *= 10;
  }
  return powers;
}();

// How many digits a number above 0 has. Source: Sean Eron Anderson, "Bit Twiddling Hacks", integer
// log base 10.
std::size_t count_digits(u64 number) {
  const auto estimate = static_cast<std::size_t>(std::bit_width(number)) * 1233 / 4096;
  return estimate + (number >= powers_of_ten[estimate] ? 1 : 0);
}

}  // namespace

void TextBuffer::append_digits(u64 number) {
  // Two digits a division, from the end; what is too large for 32 bits first.
  const auto count = count_digits(number);
  char* at = reserve(count) + count;
  while (number > 0xffff'ffff) {
    at -= 2;
    std::memcpy(at, pairs.data() + number % 100 * 2, 2);
    number /= 100;
  }
  auto low = static_cast<u32>(number);
  while (low >= 100) {
    at -= 2;
    std::memcpy(at, pairs.data() + std::size_t{low % 100} * 2, 2);
    low /= 100;
  }
  if (low >= 10)
    std::memcpy(at - 2, pairs.data() + std::size_t{low} * 2, 2);
  else
    *--at = static_cast<char>('0' + low);
  commit(count);
}

void TextBuffer::append_decimal(i64 number) {
  if (number >= 0) return append_decimal(static_cast<u64>(number));
  append('-');
  append_decimal(u64{0} - static_cast<u64>(number));
}

void TextBuffer::append_hex(u64 number) {
  const auto count = number == 0 ? 1U : static_cast<unsigned>(std::bit_width(number) + 3) / 4;
  char* const at = reserve(2 + count);
  at[0] = '0';
  at[1] = 'x';
  for (unsigned i = count; i > 0; --i, number >>= 4) at[1 + i] = digits[number & 0xf];
  commit(2 + count);
}

void TextBuffer::append_hex(ByteView bytes) {
  char* at = reserve(bytes.size() * 2);
  for (const auto byte : bytes) {
    const auto value = std::to_integer<unsigned>(byte);
    *at++ = digits[value >> 4];
    *at++ = digits[value & 0xf];
  }
  commit(bytes.size() * 2);
}

void TextBuffer::grow(std::size_t count) {
  const auto capacity = std::max({capacity_ * 2, size_ + count, std::size_t{256}});
  std::unique_ptr<char[]> larger{new char[capacity]};
  if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_);
  data_ = std::move(larger);
  capacity_ = capacity;
}

}  // namespace coldtrace::core
