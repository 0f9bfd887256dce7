#pragma once

#include <string>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::core {

// Text decoded from UTF-16LE as Windows stores it: any sequence of 16-bit units.
struct DecodedText {
  std::string utf8;   // an unpaired surrogate becomes U+FFFD
  bool valid = true;  // false when there was an unpaired surrogate; the units tell them apart
};

// Decodes all units of `bytes`; an odd last byte is ignored.
[[nodiscard]] DecodedText decode_utf16(ByteView bytes);

// As decode_utf16, appending to `utf8`. Returns whether the text was valid.
bool append_utf16(std::string& utf8, ByteView bytes);

// The bytes before the first NUL unit, or all of them.
[[nodiscard]] ByteView until_nul_unit(ByteView bytes);
template <TemporaryBytes T>
ByteView until_nul_unit(T&&) = delete;

// The text of a file by the mark that it begins with, without that: UTF-16 of either order as
// decode_utf16() has it, else its bytes as they are, of UTF-8 or what they are.
// Source: Unicode, "Byte Order Mark".
[[nodiscard]] std::string decode_marked_text(ByteView bytes);

// UTF-16LE bytes of valid UTF-8 text; invalid bytes become U+FFFD. For builders and comparisons.
[[nodiscard]] std::string encode_utf16(std::string_view utf8);

}  // namespace coldtrace::core
