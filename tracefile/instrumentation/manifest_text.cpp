#include "tracefile/instrumentation/manifest_text.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/core/utf16.hpp"

namespace coldtrace::tracefile {
namespace {

using core::ByteOrder;

// A document starts with markup, behind blanks at most.
std::optional<ByteOrder> find_order(std::string_view start) {
  if (start.size() < 2) return std::nullopt;
  constexpr std::string_view first = "< \t\r\n";
  if (start[1] == '\0' && first.find(start[0]) != first.npos) return ByteOrder::little;
  if (start[0] == '\0' && first.find(start[1]) != first.npos) return ByteOrder::big;
  return std::nullopt;
}

// "windows-1252"; empty where none is declared.
std::string declared_encoding(std::string_view text) {
  if (!text.starts_with("<?xml")) return {};
  constexpr std::string_view name = "encoding";
  text = text.substr(0, text.find("?>"));
  const auto at = text.find(name);
  if (at == text.npos) return {};
  text.remove_prefix(at + name.size());
  const auto quote = text.find_first_of("\"'");
  if (quote == text.npos) return {};
  const auto value = text.substr(quote + 1);
  return core::to_lower(value.substr(0, value.find(text[quote])));
}

// What Windows-1252 has from 0x80 on where ISO 8859-1 has controls; 0: nothing.
// Source: WHATWG, "Encoding", index windows-1252.
constexpr u16 windows_1252[32] = {0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
                                  0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017d, 0,
                                  0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                  0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178};

core::MarkedText decode_bytes(std::string_view chars, bool is_windows) {
  std::string units;
  for (const char c : chars) {
    const auto byte = static_cast<u8>(c);
    const bool is_special = is_windows && byte >= 0x80 && byte < 0xa0 && windows_1252[byte - 0x80];
    const u16 unit = is_special ? windows_1252[byte - 0x80] : byte;
    units += {static_cast<char>(unit & 0xff), static_cast<char>(unit >> 8)};
  }
  return {.utf8 = core::decode_utf16(std::as_bytes(std::span{units})).utf8, .unit = 1};
}

// The size of what starts here and has no references: a comment, CDATA or an instruction; 0: none.
std::size_t size_of_opaque(std::string_view xml) {
  using namespace std::string_view_literals;
  for (const auto& [begin, end] :
       {std::pair{"<!--"sv, "-->"sv}, std::pair{"<![CDATA["sv, "]]>"sv}, std::pair{"<?"sv, "?>"sv}})
    if (xml.starts_with(begin)) return std::min(xml.find(end, begin.size()), xml.size());
  return 0;
}

// The size of a reference to what is no character; 0: none starts here.
std::size_t size_of_false_reference(std::string_view xml) {
  if (!xml.starts_with("&#")) return 0;
  const bool is_hex = xml.starts_with("&#x");
  const std::size_t start = is_hex ? 3 : 2;
  const auto end = xml.find_first_not_of(is_hex ? "0123456789abcdefABCDEF" : "0123456789", start);
  if (end == xml.npos || end == start || xml[end] != ';') return 0;
  constexpr u32 last = 0x10ffff;
  u32 code = 0;
  for (const char digit : xml.substr(start, end - start)) {
    const auto value = static_cast<u32>(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
    code = std::min(code * (is_hex ? 16 : 10) + value, last + 1);
  }
  return code == 0 || code > last || (code & 0xfffff800) == 0xd800 ? end + 1 : 0;
}

}  // namespace

FalseReferences find_false_references(std::string_view xml) {
  FalseReferences found;
  std::size_t copied = 0;
  for (auto at = xml.find_first_of("<&"); at != xml.npos; at = xml.find_first_of("<&", at)) {
    const auto rest = xml.substr(at);
    const auto size = size_of_false_reference(rest);
    if (size > 0) {
      if (found.count++ == 0) found.first = at;
      found.without.append(xml.substr(copied, at - copied)).append("\xef\xbf\xbd");
      copied = at + size;
    }
    at += std::max<std::size_t>(size + size_of_opaque(rest), 1);
  }
  if (found.count > 0) found.without.append(xml.substr(copied));
  return found;
}

core::MarkedText decode_manifest(core::ByteView bytes) {
  auto text = core::decode_marked_text(bytes);
  if (text.mark > 0) return text;
  const auto chars = core::to_chars(bytes);
  if (const auto order = find_order(chars)) return core::decode_utf16_text(bytes, *order);
  const auto encoding = declared_encoding(chars);
  const bool is_windows = encoding == "windows-1252";
  if (is_windows || encoding == "iso-8859-1" || encoding == "latin1")
    return decode_bytes(chars, is_windows);
  return text;
}

}  // namespace coldtrace::tracefile
