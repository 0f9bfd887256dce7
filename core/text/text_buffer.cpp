#include "coldtrace/core/text_buffer.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace coldtrace::core {

void TextBuffer::append_hex(u64 number) {
  constexpr std::size_t longest = 2 + 16;
  char* const at = reserve(longest);
  at[0] = '0';
  at[1] = 'x';
  commit(static_cast<std::size_t>(std::to_chars(at + 2, at + longest, number, 16).ptr - at));
}

void TextBuffer::grow(std::size_t count) {
  const auto capacity = std::max({capacity_ * 2, size_ + count, std::size_t{256}});
  std::unique_ptr<char[]> larger{new char[capacity]};
  if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_);
  data_ = std::move(larger);
  capacity_ = capacity;
}

}  // namespace coldtrace::core
