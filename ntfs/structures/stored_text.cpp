#include "coldtrace/ntfs/structures/stored_text.hpp"

#include <algorithm>
#include <cstring>

#include "coldtrace/core/hex.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"

namespace coldtrace::ntfs {
namespace {

constexpr u64 high_bits = 0x8080'8080'8080'8080;
constexpr u64 high_halves = 0xff00'ff00'ff00'ff00;  // of four units

// The low bytes of four units, one after the other.
u32 low_halves(u64 units) {
  units &= ~high_halves;
  units = (units | units >> 8) & 0x0000'ffff'0000'ffff;
  return static_cast<u32>(units | units >> 16);
}

bool is_ascii(core::ByteView bytes) {
  std::size_t at = 0;
  for (; bytes.size() - at >= 8; at += 8) {
    u64 eight = 0;
    std::memcpy(&eight, bytes.data() + at, 8);
    if (eight & high_bits) return false;
  }
  return std::ranges::all_of(
      bytes.subspan(at), [](std::byte byte) { return (byte & std::byte{0x80}) == std::byte{0}; });
}

std::vector<std::byte> widen(StoredText text) {
  std::vector<std::byte> wide(text.units() * 2);
  for (std::size_t i = 0; i < text.units(); ++i) wide[i * 2] = text.bytes[i];
  return wide;
}

}  // namespace

bool operator==(StoredText a, StoredText b) {
  if (a.units() != b.units()) return false;
  if (a.narrow == b.narrow)
    return a.empty() || std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0;
  const auto& narrow = a.narrow ? a.bytes : b.bytes;
  const auto& wide = a.narrow ? b.bytes : a.bytes;
  std::size_t i = 0;
  for (; narrow.size() - i >= 4; i += 4) {
    u64 units = 0;
    std::memcpy(&units, wide.data() + i * 2, 8);
    u32 bytes = 0;
    std::memcpy(&bytes, narrow.data() + i, 4);
    if ((units & high_halves) != 0 || low_halves(units) != bytes) return false;
  }
  for (; i < narrow.size(); ++i)
    if (a.unit(i) != b.unit(i)) return false;
  return true;
}

bool operator<(StoredText a, StoredText b) {
  if (a.units() != b.units()) return a.units() < b.units();
  for (std::size_t i = 0; i < a.units(); ++i)
    if (a.unit(i) != b.unit(i)) return a.unit(i) < b.unit(i);
  return false;
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

void append_exact(std::string& text, StoredText name) {
  if (name.narrow)
    append_utf8(text, name);
  else
    core::append_exact(text, name.bytes);
}

std::string to_exact(StoredText name) {
  std::string text;
  append_exact(text, name);
  return text;
}

std::string to_utf16_hex(StoredText text) {
  return text.narrow ? core::to_hex(widen(text)) : core::to_hex(text.bytes);
}

bool copy_narrow(core::ByteView utf16, std::byte* narrow) {
  const std::size_t units = utf16.size() / 2;
  u64 all = 0;
  std::size_t i = 0;
  for (; units - i >= 4; i += 4) {
    u64 four = 0;
    std::memcpy(&four, utf16.data() + i * 2, 8);
    all |= four;
    const u32 bytes = low_halves(four);
    std::memcpy(narrow + i, &bytes, 4);
  }
  for (; i < units; ++i) {
    narrow[i] = utf16[i * 2];
    all |= std::to_integer<u64>(utf16[i * 2 + 1]) << 8;
  }
  return (all & high_halves) == 0;
}

}  // namespace coldtrace::ntfs
