#pragma once

#include "cli/output/output.hpp"
#include "cli/trace/analysis/analysis_input.hpp"
#include "coldtrace/trace_analysis/processors/call_tree.hpp"
#include "coldtrace/trace_analysis/records/code_names.hpp"
#include "coldtrace/trace_analysis/requests/file_table.hpp"

namespace coldtrace::cli {

// What collapsed stacks are named with, and which of them are wanted.
struct CollapsedContext {
  const trace_analysis::Population& population;
  const trace_analysis::CodeNames& code;
  TraceTimes times;
  // Numbers of processes; absent: all but the idle one.
  std::optional<std::vector<trace_analysis::Index>> processes;
  u64 events = 0;           // of the trace, which justify how much text there may be
  bool counts_time = true;  // else what the tree sums up are numbers
  const trace_analysis::FileTable* files = nullptr;  // that threads waited for
};

// Whether paths that begin so are wanted: with a thread, a DPC or an ISR.
bool is_wanted_path(const trace_analysis::Frame& top, const CollapsedContext& context);

// Writes a line for each path, "process;thread;outermost;...;innermost NANOSECONDS", as
// flamegraph.pl, inferno and speedscope read them. Processes and threads with an id that another
// one had are told apart by their start. Returns how many paths did not fit into the text that so
// many events justify; their time is in one line.
u64 write_collapsed(Output& output, const trace_analysis::CallTree& tree,
                    const CollapsedContext& context);

}  // namespace coldtrace::cli
