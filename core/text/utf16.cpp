#include "coldtrace/core/utf16.hpp"

#include <optional>
#include <span>

#include "coldtrace/core/hex.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::core {
namespace {

constexpr u32 replacement = 0xfffd;

constexpr bool is_high_surrogate(u32 unit) {
  return (unit & 0xfc00) == 0xd800;
}
constexpr bool is_low_surrogate(u32 unit) {
  return (unit & 0xfc00) == 0xdc00;
}

u32 unit_at(ByteView bytes, std::size_t index) {
  return std::to_integer<u32>(bytes[index * 2]) | std::to_integer<u32>(bytes[index * 2 + 1]) << 8;
}

bool is_ascii(ByteView bytes, std::size_t count) {
  u32 all = 0;
  for (std::size_t i = 0; i < count; ++i) all |= unit_at(bytes, i);
  return all < 0x80;
}

void append_code_point(std::string& utf8, u32 code) {
  const auto put = [&](u32 byte) { utf8.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

// An unpaired surrogate of exact text: its place, and its unit.
struct Surrogate {
  static constexpr std::size_t size = 3;  // bytes
  std::size_t at;
  u16 unit;
};

std::optional<Surrogate> find_surrogate(std::string_view exact) {
  const auto byte = [&](std::size_t at) { return static_cast<u32>(static_cast<u8>(exact[at])); };
  for (auto at = exact.find('\xed'); at != exact.npos && exact.size() - at >= Surrogate::size;
       at = exact.find('\xed', at + 1))
    if ((byte(at + 1) & 0xe0) == 0xa0 && (byte(at + 2) & 0xc0) == 0x80)
      return Surrogate{
          at, static_cast<u16>(0xd000 | (byte(at + 1) & 0x3f) << 6 | (byte(at + 2) & 0x3f))};
  return std::nullopt;
}

// The code point at `at`, which moves behind it; U+FFFD for a byte that is not UTF-8.
u32 next_code_point(std::string_view utf8, std::size_t& at) {
  const auto byte = [&](std::size_t index) {
    return static_cast<u32>(static_cast<u8>(utf8[index]));
  };
  const u32 lead = byte(at++);
  if (lead < 0x80) return lead;
  const std::size_t more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  if (lead < 0xc2 || lead > 0xf4 || more > utf8.size() - at) return replacement;
  u32 code = lead & (0x3fU >> more);
  for (std::size_t i = 0; i < more; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return replacement;
    code = code << 6 | (byte(at + i) & 0x3f);
  }
  constexpr u32 least[] = {0, 0x80, 0x800, 0x10000};
  if (code < least[more] || code > 0x10ffff || (code & 0xfffff800) == 0xd800) return replacement;
  at += more;
  return code;
}

// Appends the text; an unpaired surrogate as it is, or as U+FFFD. Returns whether there was none.
bool append_units(std::string& utf8, ByteView bytes, bool exact) {
  bool valid = true;
  const auto count = bytes.size() / 2;
  if (is_ascii(bytes, count)) {  // most names
    const auto start = utf8.size();
    utf8.resize(start + count);
    for (std::size_t i = 0; i < count; ++i) utf8[start + i] = static_cast<char>(bytes[i * 2]);
    return true;
  }
  for (std::size_t i = 0; i < count; ++i) {
    u32 code = unit_at(bytes, i);
    if (is_high_surrogate(code) && i + 1 < count && is_low_surrogate(unit_at(bytes, i + 1))) {
      code = 0x10000 + ((code & 0x3ff) << 10) + (unit_at(bytes, ++i) & 0x3ff);
    } else if (is_high_surrogate(code) || is_low_surrogate(code)) {
      if (!exact) code = replacement;
      valid = false;
    }
    append_code_point(utf8, code);
  }
  return valid;
}

}  // namespace

bool append_utf16(std::string& utf8, ByteView bytes) {
  return append_units(utf8, bytes, false);
}

DecodedText decode_utf16(ByteView bytes) {
  DecodedText text;
  text.utf8.reserve(bytes.size() / 2);
  text.valid = append_utf16(text.utf8, bytes);
  return text;
}

void append_exact(std::string& text, ByteView bytes) {
  append_units(text, bytes, true);
}

std::string decode_exact(ByteView bytes) {
  std::string text;
  append_exact(text, bytes);
  return text;
}

bool append_utf8(std::string& utf8, std::string_view exact) {
  bool valid = true;
  while (const auto surrogate = find_surrogate(exact)) {
    utf8 += exact.substr(0, surrogate->at);
    append_code_point(utf8, replacement);
    exact.remove_prefix(surrogate->at + Surrogate::size);
    valid = false;
  }
  utf8 += exact;
  return valid;
}

std::string shown_text(std::string_view exact) {
  std::string shown;
  append_utf8(shown, exact);
  return shown;
}

std::string_view shown_text(std::string_view exact, std::string& room) {
  if (!find_surrogate(exact)) return exact;
  return room = shown_text(exact);
}

std::string_view cut_exact(std::string_view exact, std::size_t most) {
  if (exact.size() <= most) return exact;
  const auto is_inside = [&](std::size_t at) {
    return (static_cast<unsigned char>(exact[at]) & 0xC0U) == 0x80U;
  };
  constexpr std::size_t longest_rest = 3;
  std::size_t end = most;
  while (end > 0 && most - end < longest_rest && is_inside(end)) --end;
  return exact.substr(0, is_inside(end) ? most : end);
}

std::string to_utf16_hex(std::string_view exact) {
  std::string units;
  while (const auto surrogate = find_surrogate(exact)) {
    units += encode_utf16(exact.substr(0, surrogate->at));
    units += {static_cast<char>(surrogate->unit & 0xff), static_cast<char>(surrogate->unit >> 8)};
    exact.remove_prefix(surrogate->at + Surrogate::size);
  }
  units += encode_utf16(exact);
  return to_hex(std::as_bytes(std::span{units}));
}

ByteView until_nul_unit(ByteView bytes) {
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2)
    if (bytes[i] == std::byte{0} && bytes[i + 1] == std::byte{0}) return bytes.first(i);
  return bytes;
}

std::string encode_utf16(std::string_view utf8) {
  std::string bytes;
  const auto put = [&](u32 unit) {
    bytes.push_back(static_cast<char>(unit & 0xff));
    bytes.push_back(static_cast<char>(unit >> 8));
  };
  for (std::size_t at = 0; at < utf8.size();) {
    const u32 code = next_code_point(utf8, at);
    if (code < 0x10000) {
      put(code);
    } else {
      put(0xd800 | (code - 0x10000) >> 10);
      put(0xdc00 | (code & 0x3ff));
    }
  }
  return bytes;
}

}  // namespace coldtrace::core
