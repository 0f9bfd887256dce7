#pragma once

#include <span>

#include "cli/trace/analysis/thread_names.hpp"
#include "coldtrace/trace_analysis/waits/critical_path.hpp"

namespace coldtrace::cli {

// The critical path of a thread: one lane for each thread, time from left to right. If there are
// more threads and hops than fit in a drawing, the shortest are left out, and it says how many.
void write_svg(Output& output, trace_analysis::Index thread,
               std::span<const trace_analysis::Hop> hops, const ThreadNames& names);

}  // namespace coldtrace::cli
