#pragma once

#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "coldtrace/core/decimal.hpp"
#include "coldtrace/core/hex.hpp"
#include "coldtrace/core/reader.hpp"

namespace coldtrace::core {

// A growing character buffer for hot output: no terminator is kept and nothing is initialized, so
// an append is a bounds check and a copy.
class TextBuffer {
 public:
  TextBuffer() = default;
  TextBuffer(TextBuffer&& other) noexcept { swap(other); }
  TextBuffer& operator=(TextBuffer&& other) noexcept {
    TextBuffer{std::move(other)}.swap(*this);
    return *this;
  }
  void swap(TextBuffer& other) noexcept {
    data_.swap(other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  [[nodiscard]] std::string_view view() const { return {data_.get(), size_}; }
  [[nodiscard]] std::size_t size() const { return size_; }
  void clear() { size_ = 0; }
  void shrink_to(std::size_t size) { size_ = size < size_ ? size : size_; }

  // Room for at least `count` characters at the end; commit() keeps what was written there.
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
    if (text.empty()) return;  // its data() may be null
    std::memcpy(reserve(text.size()), text.data(), text.size());
    size_ += text.size();
  }
  template <class Number>
  void append_decimal(Number number) {
    char* const at = reserve(longest_decimal);
    commit(static_cast<std::size_t>(write_decimal(at, number) - at));
  }
  // "0x" and lower-case digits without leading zeros.
  void append_hex(u64 number);
  // Two digits per byte.
  void append_hex(ByteView bytes) {
    write_hex(reserve(bytes.size() * 2), bytes);
    commit(bytes.size() * 2);
  }

 private:
  void grow(std::size_t count);

  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace coldtrace::core
