#pragma once

#include <string>
#include <string_view>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::core {

// A string literal, or another constant of the program. Errors and findings carry only these, so
// they are cheap to copy and do not dangle. A writable buffer does not compile; a constant array
// that is local to a function does, without a warning.
class Name {
 public:
  // Not consteval: clang 14 crashes on temporaries of a type with such a constructor.
  template <std::size_t Size>
  constexpr Name(const char (&literal)[Size])  // NOLINT(google-explicit-constructor)
      : text_{literal, Size - 1} {}
  template <std::size_t Size>
  Name(char (&buffer)[Size]) = delete;  // NOLINT(google-explicit-constructor)
  [[nodiscard]] constexpr std::string_view view() const { return text_; }
  friend constexpr bool operator==(Name a, Name b) { return a.view() == b.view(); }

 private:
  std::string_view text_;
};

// What is wrong with a field, and what ParseError::expected and found mean then.
enum class Fault : u8 {
  truncated,      // the bytes end inside the structure: expected and found count bytes
  out_of_bounds,  // an offset or length leads outside the file: expected is the limit
  bad_magic,      // the constant that identifies the structure is wrong
  bad_value,      // a field holds what the format does not allow
  missing,        // something the structure must have is absent
  loop,           // links lead back to an earlier one
  limit,          // larger than coldtrace reads: expected is the cap
  unsupported,    // a known format that coldtrace does not read
  io,             // the operating system refused: found is errno
};

[[nodiscard]] std::string_view to_string(Fault fault);

// For ParseError::expected where no single number is right: only what was found is told.
inline constexpr u64 not_one_number = ~u64{0};

// Why a structure cannot be used. `offset` is in bytes from the start of the file or image;
// the reader of the file adds its name. `expected` and `found` are equal where no number tells
// more.
struct ParseError {
  Fault fault;
  u64 offset;
  Name structure;
  Name field;
  u64 expected;
  u64 found;
};

// "0x180: IMAGE_SECTION_HEADER.VirtualSize: truncated: expected 0x4, found 0x2", or
// "0x6000: FILE record has no $DATA"
[[nodiscard]] std::string to_string(const ParseError& error);

}  // namespace coldtrace::core
