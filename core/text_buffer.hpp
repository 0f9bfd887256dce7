#pragma once

#include <cstring>
#include <memory>
#include <string_view>

#include "core/reader.hpp"

namespace coldtrace::core {

// A growing run of characters for hot output: no terminator is kept and nothing is filled, so
// that an append is a bounds check and a copy.
class TextBuffer {
 public:
  std::string_view view() const { return {data_.get(), size_}; }
  std::size_t size() const { return size_; }
  void clear() { size_ = 0; }
  void shrink_to(std::size_t size) { size_ = size < size_ ? size : size_; }

  // At least `count` characters behind the end; what was written there is kept by commit().
  char* reserve(std::size_t count) {
    if (count > capacity_ - size_) grow(count);
    return data_.get() + size_;
  }
  void commit(std::size_t count) { size_ += count; }

  void append(char c) {
    *reserve(1) = c;
    ++size_;
  }
  void append(std::string_view text) {
    if (text.empty()) return;  // perhaps without a place to copy from
    std::memcpy(reserve(text.size()), text.data(), text.size());
    size_ += text.size();
  }
  void append_decimal(u64 number) {
    if (number < 10) {
      append(static_cast<char>('0' + number));
    } else {
      append_digits(number);
    }
  }
  void append_decimal(i64 number);
  // Lower-case digits without leading zeros, after "0x".
  void append_hex(u64 number);
  // Lower-case digits, two a byte.
  void append_hex(ByteView bytes);

 private:
  void append_digits(u64 number);
  void grow(std::size_t count);

  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace coldtrace::core
