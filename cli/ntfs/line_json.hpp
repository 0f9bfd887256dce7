#pragma once

#include <rapidjson/fwd.h>

#include "cli/ntfs/rows/ntfs_rows.hpp"

namespace coldtrace::cli {

// No deeper than any line of a snapshot, so that it can be written by functions that call
// themselves.
bool is_shallow(const rapidjson::Value& json);

// A value that is_shallow(), as it is.
void append_json_value(core::TextBuffer& out, const rapidjson::Value& json, Int64 int64);

// The chosen members of a file's line, in the order in which lines have them, and a newline.
void append_line_json(core::TextBuffer& out, const rapidjson::Value& line, const RowFields& fields,
                      Int64 int64);

}  // namespace coldtrace::cli
