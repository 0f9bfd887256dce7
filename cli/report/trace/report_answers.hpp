#pragma once

#include "cli/trace/analysis/thread_names.hpp"
#include "cli/trace/analysis/top/top_formats.hpp"
#include "coldtrace/trace_analysis/processors/processor_lanes.hpp"
#include "coldtrace/trace_analysis/processors/running_stacks.hpp"
#include "coldtrace/trace_analysis/requests/rest.hpp"
#include "coldtrace/trace_analysis/scheduling/priorities.hpp"
#include "coldtrace/trace_analysis/waits/inversions.hpp"
#include "coldtrace/trace_analysis/waits/wait_graph_view.hpp"
#include "coldtrace/trace_analysis/waits/waiting_stacks.hpp"

namespace coldtrace::cli {

struct TraceReportOptions {
  u64 top = 250;               // rows of each table
  u64 largest = u64{5} << 20;  // maximum size of the page
};

// Disk requests in the timeline: the first ones, and how many are left out.
struct DrawnRequests {
  struct Request {
    i64 begin, end;  // ticks
    std::optional<u32> disk;
    trace_analysis::DiskAction action;
    std::optional<u64> bytes;
    trace_analysis::Index thread;
    u32 file;  // its number
  };
  std::vector<Request> requests;
  u64 left_out = 0;
};

// The data from which the parts of the page are made.
struct ReportAnswers {
  const TraceInput& input;
  const trace_analysis::Observed& observed;
  const trace_analysis::Population& population;
  SymbolNames& functions;
  const ThreadNames& names;
  const TopAnswers& top_answers;
  const TopPage& top;
  const trace_analysis::ProcessorLanes& lanes;
  const DrawnRequests& requests;
  const std::map<u32, trace_analysis::TimeBins>& disk_use;
  const trace_analysis::RunningStacks& running;
  const trace_analysis::WaitingStacks& waiting;
  const trace_analysis::WaitEvidence waits;
  const trace_analysis::Priorities& priorities;
  const trace_analysis::Inversions& inversions;
  const trace_analysis::AtRest& rest;
  const std::vector<i64>& timeouts;  // of `rest`, units of 100 ns
  const TraceReportOptions& options;

  i64 duration(i64 ticks) const { return names.duration(ticks); }
  // The time since the first event, in units of 100 ns.
  i64 moment(i64 time) const;
};

}  // namespace coldtrace::cli
