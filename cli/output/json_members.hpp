#pragma once

#include <optional>
#include <string>

#include <rapidjson/document.h>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::cli {

// Members of JSON that others wrote. Include it only in source files: it takes long to compile.

// The member of an object, or null if it does not have it, or not of the type that `is` tests.
const rapidjson::Value* find_member(const rapidjson::Value& object, const char* name,
                                    bool (rapidjson::Value::*is)() const);

// A text member; empty if it is absent or not a text.
std::string text_member(const rapidjson::Value& object, const char* name);

// The bytes of a text written as a FileText or MaybeText: those beside it in hexadecimal, else the
// text.
std::string file_text_member(const rapidjson::Value& object, const char* name);

// A number of at least 0, also as the text that --int64 string makes of one above 2^53, but of no
// other.
std::optional<u64> to_number(const rapidjson::Value& json);
// The same for a member.
std::optional<u64> number_member(const rapidjson::Value& object, const char* name);

}  // namespace coldtrace::cli
