#pragma once

#include <string>
#include <string_view>

#include <rapidjson/document.h>

#include "cli/sqlite/sqlite_file.hpp"

namespace coldtrace::cli {

// A value as JSON.
std::string json_of(const rapidjson::Value& value);

// A value for people: a text unchanged, everything else as JSON.
std::string plain_of(const rapidjson::Value& value);

// The same of an object's member, with unpaired surrogates as exact text has them where another
// member has its units; empty if it has none.
std::string exact_of(const rapidjson::Value& object, const char* name);

// The member of an object; null if it has none.
const rapidjson::Value& member_of(const rapidjson::Value& object, const char* name);

// The text of a member; empty if it is not a text.
std::string_view text_of(const rapidjson::Value& object, const char* name);

// Adds a value as the next one of a row: null if it is missing or of another type.
void add_integer(SqliteRows& rows, const rapidjson::Value& value);
void add_text(SqliteRows& rows, const rapidjson::Value& value);

}  // namespace coldtrace::cli
