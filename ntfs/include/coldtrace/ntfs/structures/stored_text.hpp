#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/utf16.hpp"

namespace coldtrace::ntfs {

// UTF-16 units of a name as NTFS stores them, or one byte per unit if all are below 0x100. Views
// bytes owned elsewhere.
struct StoredText {
  core::ByteView bytes;
  bool narrow = false;

  [[nodiscard]] std::size_t units() const { return narrow ? bytes.size() : bytes.size() / 2; }
  [[nodiscard]] bool empty() const { return bytes.empty(); }
  [[nodiscard]] u16 unit(std::size_t index) const {
    if (narrow) return std::to_integer<u16>(bytes[index]);
    u16 value;
    std::memcpy(&value, bytes.data() + index * 2, 2);
    return value;
  }
};

// A view of little-endian UTF-16 as NTFS stores it.
[[nodiscard]] inline StoredText to_stored_text(core::ByteView utf16) {
  return {utf16, false};
}

bool operator==(StoredText a, StoredText b);
// A total order of texts: by length, then by units.
bool operator<(StoredText a, StoredText b);
[[nodiscard]] bool equals_ascii(StoredText text, std::string_view ascii);

// Appends as UTF-8 with U+FFFD for unpaired surrogates; returns whether there were none.
bool append_utf8(std::string& utf8, StoredText text);
[[nodiscard]] std::string to_utf8(StoredText text);

// As exact text, which these functions take too.
using core::append_utf8;
using core::to_utf16_hex;
void append_exact(std::string& text, StoredText name);
[[nodiscard]] std::string to_exact(StoredText name);

// The units as stored, in hexadecimal: "41004200".
[[nodiscard]] std::string to_utf16_hex(StoredText text);

// Writes one byte per unit to `narrow`, which must have space for them; false if a unit is above
// 0xff.
bool copy_narrow(core::ByteView utf16, std::byte* narrow);

}  // namespace coldtrace::ntfs
