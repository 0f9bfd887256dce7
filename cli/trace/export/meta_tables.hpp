#pragma once

#include "cli/sqlite/sqlite_file.hpp"
#include "cli/trace/trace_input.hpp"

namespace coldtrace::cli {

// The tables meta, finding and file_finding: what the database was made from.
void write_meta_tables(SqliteFile& file, const TraceInput& input);

}  // namespace coldtrace::cli
