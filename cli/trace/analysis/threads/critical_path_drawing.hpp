#pragma once

#include <span>

#include "cli/trace/analysis/thread_names.hpp"
#include "coldtrace/trace_analysis/waits/critical_path.hpp"

namespace coldtrace::cli {

// The path of a thread. One lane for each thread, time from left to right. Of threads and hops
// beyond what a drawing has room for, the shortest are left out; it says how many.
void write_svg(Output& output, trace_analysis::Index thread,
               std::span<const trace_analysis::Hop> hops, const ThreadNames& names);

}  // namespace coldtrace::cli
