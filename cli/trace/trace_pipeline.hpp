#pragma once

#include "cli/output/output.hpp"
#include "cli/trace/lines/trace_lines.hpp"
#include "coldtrace/tracefile/selection/event_selection.hpp"

namespace coldtrace::cli {

struct TracePipelineOptions {
  TraceLineOptions lines;
  tracefile::EventSelection selection;
  tracefile::Order order = tracefile::Order::time;
  std::optional<u64> limit;  // events
  unsigned jobs = 1;
};

struct TracePipelineResult {
  u64 events = 0;
  u64 gaps = 0;
  u64 cut_names = 0;      // events that lost names for lack of room
  u64 still_sealed = 0;   // encrypted fields that the key does not decrypt
  u64 other_schemas = 0;  // events decoded by another schema than the preferred one
  std::vector<tracefile::KindCount> kinds;
  core::NoMatch unmatched;  // of the selection; empty if a limit ended the run
};

// The limits that a selection sets for the events of an .etl or .ctrace file.
tracefile::StreamOptions to_stream_options(const TracePipelineOptions& options,
                                           const tracefile::Clock& clock);

// Writes all selected events. This thread merges and selects; `jobs` threads make lines batch by
// batch, which are written in the order of the batches, so the output is always the same.
TracePipelineResult write_trace(const TraceContext& context, tracefile::EventSequence& events,
                                const TracePipelineOptions& options, Output& output);

}  // namespace coldtrace::cli
