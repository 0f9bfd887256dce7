#pragma once

#include <string>
#include <string_view>

#include <rapidjson/document.h>

#include "cli/sqlite/sqlite_file.hpp"

namespace coldtrace::cli {

// A value as JSON.
std::string json_of(const rapidjson::Value& value);

// A value for people: a text as it is, everything else as JSON.
std::string plain_of(const rapidjson::Value& value);

// The member of an object; null where it has none.
const rapidjson::Value& member_of(const rapidjson::Value& object, const char* name);

// The text of a member; empty where that is none.
std::string_view text_of(const rapidjson::Value& object, const char* name);

// The value as the next one of a row: null where it is none or of another type.
void add_integer(SqliteRows& rows, const rapidjson::Value& value);
void add_text(SqliteRows& rows, const rapidjson::Value& value);

}  // namespace coldtrace::cli
