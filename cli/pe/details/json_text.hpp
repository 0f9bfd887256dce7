#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace coldtrace::pe_details {

using Buffer = rapidjson::StringBuffer;
using Writer = rapidjson::Writer<Buffer>;

// Text of any encoding: text that is not valid UTF-8 keeps its ASCII letters.
void write_text(Writer& json, const char* key, const std::string& text);
void write_hex(Writer& json, const char* key, const unsigned char* bytes, std::size_t size);

struct DecodedText {
  std::string utf8;      // U+FFFD stands for a surrogate without a pair
  bool is_valid = true;  // there is none
};
DecodedText decode_utf16(const std::u16string& text);
// Text that is not valid has its units in a second member, as they are stored little-endian.
void write_utf16(Writer& json, const char* key, const std::u16string& text);

}  // namespace coldtrace::pe_details
