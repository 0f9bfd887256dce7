#pragma once

#include <optional>
#include <string>

#include <rapidjson/document.h>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::cli {

// Members of JSON that others wrote. To be included by source files alone: it takes long to
// compile.

// The member of an object, where it has it and it is what `is` asks for.
const rapidjson::Value* find_member(const rapidjson::Value& object, const char* name,
                                    bool (rapidjson::Value::*is)() const);

// A text member; empty where it is absent or no text.
std::string text_member(const rapidjson::Value& object, const char* name);

// The bytes of a text that a FileText or MaybeText was written as: those that stand beside it in
// hexadecimal, else the text.
std::string file_text_member(const rapidjson::Value& object, const char* name);

// A number from 0 on, also as the text that --int64 string makes of one above 2^53, and of no
// other.
std::optional<u64> to_number(const rapidjson::Value& json);
// The same of a member.
std::optional<u64> number_member(const rapidjson::Value& object, const char* name);

}  // namespace coldtrace::cli
