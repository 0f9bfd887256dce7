#pragma once

#include "cli/sqlite/sqlite_file.hpp"
#include "cli/trace/trace_input.hpp"

namespace coldtrace::cli {

// The tables meta, finding and file_finding: the origin of the database.
void write_meta_tables(SqliteFile& file, const TraceInput& input);

}  // namespace coldtrace::cli
