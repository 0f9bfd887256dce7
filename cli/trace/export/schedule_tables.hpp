#pragma once

#include "cli/sqlite/sqlite_file.hpp"
#include "cli/trace/trace_input.hpp"

namespace coldtrace::cli {

// The tables process, thread, sched and thread_state, with Perfetto's names: which there were, and
// what each processor and thread did when, as far as the trace tells. What they lack is a finding
// of the input.
void write_schedule_tables(SqliteFile& file, TraceInput& input,
                           const tracefile::EventSelection& selection);

}  // namespace coldtrace::cli
