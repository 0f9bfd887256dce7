#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/error.hpp"
#include "coldtrace/core/result.hpp"

namespace coldtrace::core {

static_assert(std::endian::native == std::endian::little,
              "every format here is little-endian, and loads are plain copies");

using ByteView = std::span<const std::byte>;

// The `length` bytes at `offset`, or nothing when they do not all lie inside `bytes`.
// The only way from numbers in a file to a range: it subtracts, so it cannot wrap.
[[nodiscard]] constexpr std::optional<ByteView> slice(ByteView bytes, u64 offset, u64 length) {
  if (offset > bytes.size() || length > bytes.size() - offset) return std::nullopt;
  return bytes.subspan(offset, length);
}
template <TemporaryBytes T>
std::optional<ByteView> slice(T&&, u64, u64) = delete;

// The little-endian integer at `offset`, or nothing when it does not lie inside `bytes`.
template <class T>
[[nodiscard]] std::optional<T> load(ByteView bytes, u64 offset) {
  static_assert(std::is_integral_v<T>);
  const auto view = slice(bytes, offset, sizeof(T));
  if (!view) return std::nullopt;
  T value;
  std::memcpy(&value, view->data(), sizeof(T));
  return value;
}

// Compares the bytes with themselves shifted by one: as fast as memory can be read.
[[nodiscard]] inline bool is_zero(ByteView bytes) noexcept {
  return bytes.empty() || (bytes[0] == std::byte{0} &&
                           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

// A structure of `Size` bytes whose fields are loaded at offsets checked at compile time.
// One bounds check covers them all: for hot paths that read the same structure many times.
template <std::size_t Size>
class Fields {
 public:
  [[nodiscard]] static std::optional<Fields> at(ByteView bytes, u64 offset) {
    const auto view = slice(bytes, offset, Size);
    if (!view) return std::nullopt;
    return Fields{view->data()};
  }
  template <TemporaryBytes T>
  static std::optional<Fields> at(T&&, u64) = delete;

  template <class T, std::size_t Offset>
  [[nodiscard]] T get() const {
    static_assert(std::is_integral_v<T> && Offset + sizeof(T) <= Size);
    T value;
    std::memcpy(&value, data_ + Offset, sizeof(T));
    return value;
  }

  template <std::size_t Offset, std::size_t Count>
  [[nodiscard]] ByteView bytes() const {
    static_assert(Offset + Count <= Size);
    return {data_ + Offset, Count};
  }

 private:
  explicit Fields(const std::byte* data) : data_{data} {}

  const std::byte* data_;
};

// A checked little-endian cursor over one structure. The first failed read is remembered and every
// later one yields zero, so that a structure is read field by field and checked once.
class Reader {
 public:
  // Reads `structure` from the start of `bytes`, which lie at byte `offset` of the file.
  Reader(BorrowedBytes bytes, Name structure, u64 offset)
      : bytes_{bytes.get()}, base_{offset}, structure_{structure} {}

  u8 read_u8(Name field) { return read<u8>(field); }
  u16 read_u16(Name field) { return read<u16>(field); }
  u32 read_u32(Name field) { return read<u32>(field); }
  u64 read_u64(Name field) { return read<u64>(field); }
  i32 read_i32(Name field) { return read<i32>(field); }
  i64 read_i64(Name field) { return read<i64>(field); }

  // An unsigned integer of 4 or 8 bytes: a pointer-sized field.
  u64 read_word(unsigned size, Name field) {
    return size == 8 ? read<u64>(field) : read<u32>(field);
  }

  template <class T>
  T read(Name field) {
    static_assert(std::is_integral_v<T>);
    const auto view = take(sizeof(T), field);
    T value{};
    if (view.size() == sizeof(T)) std::memcpy(&value, view.data(), sizeof(T));
    return value;
  }

  template <std::size_t Count>
  std::array<char, Count> read_chars(Name field) {
    std::array<char, Count> chars{};
    const auto view = take(Count, field);
    if (view.size() == Count) std::memcpy(chars.data(), view.data(), Count);
    return chars;
  }

  // The next `count` bytes; empty after a failure.
  ByteView take(u64 count, Name field) {
    if (failed_) return {};
    const u64 left = bytes_.size() - at_;
    if (count > left) {
      remember({Fault::truncated, offset(), structure_, field, count, left});
      return {};
    }
    const auto view = bytes_.subspan(at_, count);
    at_ += count;
    return view;
  }

  void skip(u64 count, Name field) { take(count, field); }

  // Reads a constant; any other value is a failure.
  template <class T>
  T expect(T constant, Name field, Fault fault = Fault::bad_magic) {
    const auto at = offset();
    const auto value = read<T>(field);
    if (!failed_ && value != constant)
      remember({fault, at, structure_, field, u64(constant), u64(value)});
    return value;
  }

  // Records that the field just read at `at` holds what the format does not allow.
  void reject(Fault fault, u64 at, Name field, u64 expected, u64 found) {
    if (!failed_) remember({fault, at, structure_, field, expected, found});
  }

  [[nodiscard]] bool ok() const { return !failed_; }
  [[nodiscard]] u64 offset() const { return base_ + at_; }  // in the file
  [[nodiscard]] u64 consumed() const { return at_; }        // since the start of the structure
  [[nodiscard]] u64 remaining() const { return bytes_.size() - at_; }
  [[nodiscard]] const ParseError& error() const { return error_; }

  // The given value, or the first failure.
  template <class T>
  Result<T> finish(T value) const {
    if (failed_) return fail(error_);
    return value;
  }

 private:
  void remember(const ParseError& error) {
    failed_ = true;
    error_ = error;
  }

  ByteView bytes_;
  u64 base_;
  u64 at_ = 0;  // never beyond bytes_.size()
  Name structure_;
  // Not an optional: g++ 12 reports -Wmaybe-uninitialized on one with sanitizers.
  bool failed_ = false;
  ParseError error_{Fault::truncated, 0, "", "", 0, 0};
};

}  // namespace coldtrace::core
