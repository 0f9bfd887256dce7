#pragma once

#include <optional>
#include <span>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/trace_analysis/records/analysis.hpp"
#include "coldtrace/trace_analysis/waits/critical_path.hpp"

namespace coldtrace::trace_analysis {

// The interval of a trace in which CriticalPath can follow a thread, in ticks.
struct PathWindow {
  std::optional<i64> from, to;  // nothing: no event of the trace is in the interval
  Index thread = nobody;
  std::vector<Index> candidates;  // all threads with the id; if there are several, none is chosen
};

// The thread with an id, from `first`, or the first event, to the last event or the thread's end.
// If the trace has nothing in the interval, or no such thread, that is the finding `no-match`.
[[nodiscard]] PathWindow find_path_window(const Observed& observed, std::optional<i64> first,
                                          u32 tid, core::Findings& findings);

// Ticks of a path for which the trace does not show what happened.
[[nodiscard]] i64 unknown_time(std::span<const Hop> hops);

}  // namespace coldtrace::trace_analysis
