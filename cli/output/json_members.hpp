#pragma once

#include <string>

#include <rapidjson/document.h>

namespace coldtrace::cli {

// Members of JSON that others wrote. To be included by source files alone: it takes long to
// compile.

// The member of an object, where it has it and it is what `is` asks for.
const rapidjson::Value* find_member(const rapidjson::Value& object, const char* name,
                                    bool (rapidjson::Value::*is)() const);

// A text member; empty where it is absent or no text.
std::string text_member(const rapidjson::Value& object, const char* name);

}  // namespace coldtrace::cli
