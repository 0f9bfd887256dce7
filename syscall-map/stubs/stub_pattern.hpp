#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::syscall_map {

// Machine code with fields, compiled from text. Two characters stand for one byte:
//   hex digits  exactly this byte           ..  any byte
//   nn          service number, low first   aa  stack bytes that "ret imm16" removes
//   vv          absolute address, low first rr  displacement from the end of its field
//   zz  "ret" alone, which removes none
// A final "ret" stands for "C2 aa aa" or "C3" (no stack bytes).
class StubPattern {
 public:
  consteval StubPattern(const char* text) : StubPattern{std::string_view{text}} {}  // NOLINT

  struct Match {
    u32 immediate = 0;                  // the nn bytes
    std::optional<u32> argument_bytes;  // if the pattern has "aa" or "ret"
    u32 address = 0;                    // the vv bytes
    u32 address_at = 0;                 // their offset in the code
    i64 displacement_target = 0;        // where rr leads, from the start of the code
    u32 length = 0;                     // bytes matched
  };

  // False for code that cannot match, judged by its first four bytes, little-endian.
  bool suits(u32 first) const { return (first & load(mask_, start)) == load(exact_, start); }

  // The fields of `code`, or nothing if a byte differs or is missing.
  std::optional<Match> match(core::ByteView code) const;

 private:
  static constexpr std::size_t most_bytes = 40;
  using Bytes = std::array<u8, most_bytes>;

  // Where the adjacent bytes of a field are.
  struct Field {
    u8 at = 0;
    u8 size = 0;  // none: the pattern has no such field
  };
  static constexpr Field start{0, 4};

  consteval explicit StubPattern(std::string_view text) {
    while (!text.empty()) {
      if (text.front() == ' ') {
        text.remove_prefix(1);
      } else if (text == "ret") {
        returns_ = true;
        break;
      } else {
        add(text[0], text[1]);
        text.remove_prefix(2);
      }
    }
    if (size_ < start.size) throw "less than four bytes";
  }

  consteval void add(char high, char low) {
    if (high == low && high == 'n') return extend(number_);
    if (high == low && high == 'a') return extend(arguments_);
    if (high == low && high == 'v') return extend(address_);
    if (high == low && high == 'r') return extend(displacement_);
    if (high == low && high == '.') return add_byte(0, 0);
    if (high == low && high == 'z') {
      bare_return_ = true;
      return add_byte(bare_return, 0xff);
    }
    add_byte(static_cast<u8>(digit(high) << 4 | digit(low)), 0xff);
  }

  consteval void extend(Field& field) {
    if (field.size == 0) field.at = size_;
    if (field.at + field.size != size_ || field.size == sizeof(u32)) throw "a field in pieces";
    ++field.size;
    add_byte(0, 0);
  }

  consteval void add_byte(u8 byte, u8 mask) {
    exact_[size_] = byte;
    mask_[size_++] = mask;
  }

  static consteval u8 digit(char c) {
    if (c >= '0' && c <= '9') return static_cast<u8>(c - '0');
    if (c >= 'A' && c <= 'F') return static_cast<u8>(c - 'A' + 10);
    throw "a byte is two hexadecimal digits in upper case";
  }

  static constexpr u32 load(const Bytes& bytes, Field field) {
    u32 value = 0;
    for (u32 i = 0; i < field.size; ++i) value |= u32{bytes[field.at + i]} << 8 * i;
    return value;
  }

  static constexpr u8 bare_return = 0xc3;
  static constexpr u8 counted_return = 0xc2;

  // What the `size_` bytes must be where the mask has bits; beyond them both are zero.
  Bytes exact_{};
  Bytes mask_{};
  u8 size_ = 0;
  Field number_, arguments_, address_, displacement_;
  bool bare_return_ = false;
  bool returns_ = false;
};

}  // namespace coldtrace::syscall_map
