#pragma once

#include <string>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::core {

// The text of a file in UTF-8, and where its characters are in the file.
struct MarkedText {
  std::string utf8;       // of a file in UTF-8 its bytes, valid or not
  u64 mark = 0;           // bytes of the byte order mark
  unsigned unit = 0;      // bytes of a unit of the file, 1 or 2; 0: it is in UTF-8
  u64 invalid = 0;        // bytes that are not UTF-8, or surrogates without a pair and an odd byte
  u64 first_invalid = 0;  // byte of the file, if there are any

  // The byte of the file where the character at a byte of `utf8` starts.
  [[nodiscard]] u64 offset_of(std::size_t at) const;
};

// Of the units of UTF-16.
enum class ByteOrder : u8 { little, big };

// The text behind a mark of so many bytes. U+FFFD stands for an unpaired surrogate.
[[nodiscard]] MarkedText decode_utf8_text(ByteView bytes, u64 mark = 0);
[[nodiscard]] MarkedText decode_utf16_text(ByteView bytes, ByteOrder order, u64 mark = 0);

// By the byte order mark; without one it is UTF-8, valid or not. Source: Unicode, "Byte Order
// Mark".
[[nodiscard]] MarkedText decode_marked_text(ByteView bytes);

// "3 bytes of the text are not valid UTF-8: U+FFFD stands for each", of a text that has such.
[[nodiscard]] std::string describe_invalid(const MarkedText& text);

}  // namespace coldtrace::core
