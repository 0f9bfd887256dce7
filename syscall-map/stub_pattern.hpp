#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "core/reader.hpp"

namespace coldtrace::syscall_map {

// Machine code with fields, compiled from text. Two characters stand for a byte:
//   hex digits  exactly this byte           ..  any byte
//   nn          service number, low first   aa  stack bytes that "ret imm16" removes
//   vv          absolute address, low first rr  displacement from the end of its field
//   zz  "ret" alone, which removes none
// A final "ret" stands for "C2 aa aa" or "C3" (no stack bytes).
class StubPattern {
 public:
  consteval StubPattern(const char* text) : StubPattern{std::string_view{text}} {}  // NOLINT

  struct Match {
    u32 immediate = 0;                  // all nn bytes
    std::optional<u32> argument_bytes;  // where the pattern has "aa" or "ret"
    u32 address = 0;                    // all vv bytes
    u32 address_at = 0;                 // where they lie in the code
    i64 displacement_target = 0;        // from the start of the code, where rr leads
    u32 length = 0;                     // bytes matched
  };

  // False for code that cannot match, by its first four bytes, low first.
  bool suits(u32 first) const { return (first & first_mask_) == first_; }

  // The fields of `code`, or nothing when a byte differs or is missing.
  std::optional<Match> match(core::ByteView code) const;

 private:
  enum class Kind : u8 { exact, any, number, arguments, bare_return, address, displacement };
  struct Element {
    Kind kind = Kind::any;
    u8 byte = 0;
  };
  static constexpr std::size_t most_elements = 40;

  consteval explicit StubPattern(std::string_view text) {
    while (!text.empty()) {
      if (text.front() == ' ') {
        text.remove_prefix(1);
      } else if (text == "ret") {
        returns_ = true;
        break;
      } else {
        elements_[size_++] = parse(text[0], text[1]);
        text.remove_prefix(2);
      }
    }
    if (size_ < sizeof(first_)) throw "less than four bytes";
    for (std::size_t i = sizeof(first_); i-- > 0;) {
      const bool exact = elements_[i].kind == Kind::exact;
      first_ = first_ << 8 | (exact ? elements_[i].byte : 0U);
      first_mask_ = first_mask_ << 8 | (exact ? 0xffU : 0U);
    }
  }

  static consteval u8 digit(char c) {
    if (c >= '0' && c <= '9') return static_cast<u8>(c - '0');
    if (c >= 'A' && c <= 'F') return static_cast<u8>(c - 'A' + 10);
    throw "a byte is two hexadecimal digits in upper case";
  }

  static consteval Element parse(char high, char low) {
    if (high == low) {
      if (high == '.') return {Kind::any, 0};
      if (high == 'n') return {Kind::number, 0};
      if (high == 'a') return {Kind::arguments, 0};
      if (high == 'z') return {Kind::bare_return, 0};
      if (high == 'v') return {Kind::address, 0};
      if (high == 'r') return {Kind::displacement, 0};
    }
    return {Kind::exact, static_cast<u8>(digit(high) << 4 | digit(low))};
  }

  std::array<Element, most_elements> elements_{};
  std::size_t size_ = 0;
  u32 first_ = 0;
  u32 first_mask_ = 0;
  bool returns_ = false;
};

}  // namespace coldtrace::syscall_map
