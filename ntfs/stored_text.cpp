#include "ntfs/stored_text.hpp"

#include <algorithm>
#include <cstring>

#include "core/hex.hpp"
#include "core/text.hpp"
#include "core/utf16.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr u64 high_bits = 0x8080'8080'8080'8080;

bool is_ascii(core::ByteView bytes) {
  std::size_t at = 0;
  for (; bytes.size() - at >= 8; at += 8)
    if (*core::load<u64>(bytes, at) & high_bits) return false;
  return std::ranges::all_of(
      bytes.subspan(at), [](std::byte byte) { return (byte & std::byte{0x80}) == std::byte{0}; });
}

std::vector<std::byte> widen(StoredText text) {
  std::vector<std::byte> wide(text.units() * 2);
  for (std::size_t i = 0; i < text.units(); ++i) wide[i * 2] = text.bytes[i];
  return wide;
}

}  // namespace

u16 StoredText::unit(std::size_t index) const {
  if (narrow) return std::to_integer<u16>(bytes[index]);
  u16 value;
  std::memcpy(&value, bytes.data() + index * 2, 2);
  return value;
}

bool operator==(StoredText a, StoredText b) {
  if (a.narrow == b.narrow) return std::ranges::equal(a.bytes, b.bytes);
  if (a.units() != b.units()) return false;
  for (std::size_t i = 0; i < a.units(); ++i)
    if (a.unit(i) != b.unit(i)) return false;
  return true;
}

bool equals_ascii(StoredText text, std::string_view ascii) {
  if (text.units() != ascii.size()) return false;
  for (std::size_t i = 0; i < ascii.size(); ++i)
    if (text.unit(i) != static_cast<u8>(ascii[i])) return false;
  return true;
}

bool append_utf8(std::string& utf8, StoredText text) {
  if (!text.narrow) return core::append_utf16(utf8, text.bytes);
  if (is_ascii(text.bytes)) {
    utf8 += core::to_chars(text.bytes);
    return true;
  }
  return core::append_utf16(utf8, widen(text));
}

std::string to_utf8(StoredText text) {
  std::string utf8;
  append_utf8(utf8, text);
  return utf8;
}

std::string to_utf16_hex(StoredText text) {
  return text.narrow ? core::to_hex(widen(text)) : core::to_hex(text.bytes);
}

bool fits_narrow(core::ByteView utf16) {
  std::size_t at = 0;
  for (; utf16.size() - at >= 8; at += 8)
    if (*core::load<u64>(utf16, at) & 0xff00'ff00'ff00'ff00) return false;
  for (; utf16.size() - at >= 2; at += 2)
    if (utf16[at + 1] != std::byte{0}) return false;
  return true;
}

}  // namespace coldtrace::ntfs
