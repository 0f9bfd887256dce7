#pragma once

#include <string>
#include <string_view>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::core {

// Text decoded from UTF-16LE as Windows stores it: any sequence of 16-bit units.
struct DecodedText {
  std::string utf8;   // an unpaired surrogate becomes U+FFFD
  bool valid = true;  // false if a surrogate is unpaired: only the units tell such texts apart
};

// Decodes all units of `bytes`; an odd last byte is ignored.
[[nodiscard]] DecodedText decode_utf16(ByteView bytes);

// As decode_utf16, but appends to `utf8`. Returns whether the text was valid.
bool append_utf16(std::string& utf8, ByteView bytes);

// "Exact text": as decode_utf16(), except that unpaired surrogates are encoded as other characters
// are, so that texts of different units differ. printable() takes it, other outputs shown_text().
// Source: Simon Sapin, "The WTF-8 encoding".
[[nodiscard]] std::string decode_exact(ByteView bytes);
void append_exact(std::string& text, ByteView bytes);

// Appends exact text as append_utf16() does its units; returns whether it was valid.
bool append_utf8(std::string& utf8, std::string_view exact);
[[nodiscard]] std::string shown_text(std::string_view exact);
// The same, in `room` where it is another text.
[[nodiscard]] std::string_view shown_text(std::string_view exact, std::string& room);
template <TemporaryText T>
std::string_view shown_text(T&&, std::string&) = delete;

// The first `most` bytes of exact text, or up to three fewer, so that no character is cut.
[[nodiscard]] std::string_view cut_exact(std::string_view exact, std::size_t most);
template <TemporaryText T>
std::string_view cut_exact(T&&, std::size_t) = delete;

// The units of exact text in hexadecimal, as they are stored: "41004200".
[[nodiscard]] std::string to_utf16_hex(std::string_view exact);

// The bytes before the first NUL unit, or all of them.
[[nodiscard]] ByteView until_nul_unit(ByteView bytes);
template <TemporaryBytes T>
ByteView until_nul_unit(T&&) = delete;

// The UTF-16LE bytes of UTF-8 text; invalid bytes become U+FFFD. For builders and comparisons.
[[nodiscard]] std::string encode_utf16(std::string_view utf8);

}  // namespace coldtrace::core
