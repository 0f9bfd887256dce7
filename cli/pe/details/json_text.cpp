#include "cli/pe/details/json_text.hpp"

#include <vector>

#include <rapidjson/encodings.h>

namespace coldtrace::pe_details {
namespace {

bool is_utf8(const std::string& text) {
  rapidjson::StringStream in{text.c_str()};
  rapidjson::StringBuffer out;
  while (in.Tell() < text.size())
    if (!rapidjson::UTF8<>::Validate(in, out)) return false;
  return true;
}

}  // namespace

void write_text(Writer& json, const char* key, const std::string& text) {
  std::string valid = text;
  if (!is_utf8(text))
    for (auto& letter : valid)
      if (static_cast<unsigned char>(letter) >= 0x80) letter = '?';
  json.Key(key);
  json.String(valid.data(), static_cast<rapidjson::SizeType>(valid.size()));
}

void write_hex(Writer& json, const char* key, const unsigned char* bytes, std::size_t size) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 15];
  }
  write_text(json, key, text);
}

DecodedText decode_utf16(const std::u16string& text) {
  DecodedText decoded;
  const auto put = [&](unsigned byte) { decoded.utf8 += static_cast<char>(byte); };
  const auto is_half = [&](std::size_t at, unsigned half) {
    return at < text.size() && (text[at] & 0xfc00U) == half;
  };
  constexpr unsigned high = 0xd800, low = 0xdc00, replacement = 0xfffd;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned code = text[at];
    if (is_half(at, high) && is_half(at + 1, low)) {
      code = 0x10000 + ((code & 0x3ffU) << 10) + (text[++at] & 0x3ffU);
    } else if (is_half(at, high) || is_half(at, low)) {
      code = replacement;
      decoded.is_valid = false;
    }
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xc0 | code >> 6);
    } else if (code < 0x10000) {
      put(0xe0 | code >> 12);
    } else {
      put(0xf0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3f));
    }
    if (code >= 0x800) put(0x80 | (code >> 6 & 0x3f));
    if (code >= 0x80) put(0x80 | (code & 0x3f));
  }
  return decoded;
}

void write_utf16(Writer& json, const char* key, const std::u16string& text) {
  const auto decoded = decode_utf16(text);
  write_text(json, key, decoded.utf8);
  if (decoded.is_valid) return;
  std::vector<unsigned char> units;
  for (const char16_t unit : text) {
    units.push_back(static_cast<unsigned char>(unit & 0xff));
    units.push_back(static_cast<unsigned char>(unit >> 8));
  }
  write_hex(json, (std::string{key} + "_utf16").c_str(), units.data(), units.size());
}

}  // namespace coldtrace::pe_details
