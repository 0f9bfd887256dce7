#include "coldtrace/core/text_buffer.hpp"

#include <algorithm>
#include <bit>

namespace coldtrace::core {
namespace {

constexpr char digits[] = "0123456789abcdef";

}  // namespace

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
