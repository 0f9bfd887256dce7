#pragma once

#include <rapidjson/fwd.h>

#include "cli/ntfs/rows/ntfs_rows.hpp"

namespace coldtrace::cli {

// A file's line of a snapshot as a row of csv_header(fields), and a newline.
void append_line_csv(core::TextBuffer& out, const rapidjson::Value& line, const RowFields& fields,
                     Int64 int64);

}  // namespace coldtrace::cli
