#pragma once

#include "cli/sqlite/sqlite_file.hpp"
#include "cli/trace/trace_input.hpp"

namespace coldtrace::cli {

// The tables process, thread, sched and thread_state, named as Perfetto names them: who was there,
// and what each processor and thread did when, as far as the trace tells. Returns how many buffers
// could not be read.
u64 write_schedule_tables(SqliteFile& file, const tracefile::AnyTrace& trace,
                          const tracefile::EventSelection& selection);

}  // namespace coldtrace::cli
