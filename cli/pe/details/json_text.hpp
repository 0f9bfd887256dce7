#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace coldtrace::pe_details {

using Buffer = rapidjson::StringBuffer;
using Writer = rapidjson::Writer<Buffer>;

// Writes text of any encoding: if it is not valid UTF-8, its ASCII letters are kept.
void write_text(Writer& json, const char* key, const std::string& text);
void write_hex(Writer& json, const char* key, const unsigned char* bytes, std::size_t size);
std::string to_utf8(const std::u16string& text);

}  // namespace coldtrace::pe_details
