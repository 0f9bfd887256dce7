#pragma once

#include "cli/output/output.hpp"
#include "cli/trace/analysis/analysis_input.hpp"
#include "coldtrace/trace_analysis/processors/call_tree.hpp"
#include "coldtrace/trace_analysis/records/code_names.hpp"
#include "coldtrace/trace_analysis/requests/file_table.hpp"

namespace coldtrace::cli {

// What gives names to collapsed stacks, and which of them are wanted.
struct CollapsedContext {
  const trace_analysis::Population& population;
  const trace_analysis::CodeNames& code;
  TraceTimes times;
  // Indexes of processes; absent: all but the idle one.
  std::optional<std::vector<trace_analysis::Index>> processes;
  u64 events = 0;                                    // of the trace, which bound the amount of text
  bool counts_time = true;                           // else the tree sums up numbers
  const trace_analysis::FileTable* files = nullptr;  // for which threads waited
};

// Whether paths that begin with this thread, DPC or ISR are wanted.
bool is_wanted_path(const trace_analysis::Frame& top, const CollapsedContext& context);

// Writes a line for each path, "process;thread;outermost;...;innermost NANOSECONDS", for
// flamegraph.pl, inferno and speedscope. Processes and threads with a reused id are told apart by
// their start. Returns how many paths did not fit in the text that the number of events allows;
// their time is in one line.
u64 write_collapsed(Output& output, const trace_analysis::CallTree& tree,
                    const CollapsedContext& context);

}  // namespace coldtrace::cli
