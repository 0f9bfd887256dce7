#include "cli/pe/details/json_text.hpp"

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

std::string to_utf8(const std::u16string& text) {
  std::string utf8;
  for (const char16_t unit : text) {
    const unsigned code = unit >= 0xd800 && unit <= 0xdfff ? 0xfffd : unit;
    if (code < 0x80) {
      utf8 += static_cast<char>(code);
    } else if (code < 0x800) {
      utf8 += static_cast<char>(0xc0 | code >> 6);
      utf8 += static_cast<char>(0x80 | (code & 0x3f));
    } else {
      utf8 += static_cast<char>(0xe0 | code >> 12);
      utf8 += static_cast<char>(0x80 | (code >> 6 & 0x3f));
      utf8 += static_cast<char>(0x80 | (code & 0x3f));
    }
  }
  return utf8;
}

}  // namespace coldtrace::pe_details
