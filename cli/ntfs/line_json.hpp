#pragma once

#include <rapidjson/fwd.h>

#include "cli/ntfs/rows/ntfs_rows.hpp"

namespace coldtrace::cli {

// Whether it is no deeper than a line of a snapshot, so that it can be written recursively.
bool is_shallow(const rapidjson::Value& json);

// Appends a value that is_shallow(), unchanged.
void append_json_value(core::TextBuffer& out, const rapidjson::Value& json, Int64 int64);

// The chosen members of a file's line, in the usual order, and a newline.
void append_line_json(core::TextBuffer& out, const rapidjson::Value& line, const RowFields& fields,
                      Int64 int64);

}  // namespace coldtrace::cli
