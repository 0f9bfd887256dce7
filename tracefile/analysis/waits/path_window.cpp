#include "coldtrace/trace_analysis/waits/path_window.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::trace_analysis {

PathWindow find_path_window(const Observed& observed, std::optional<i64> first, u32 tid,
                            core::Findings& findings) {
  PathWindow window;
  if (!observed.first) return window;
  if (first.value_or(*observed.first) > *observed.last) {
    findings.warning("no-match", std::nullopt, "no event of the trace is between --from and --to");
    return window;
  }
  window.from = std::max(*observed.first, first.value_or(*observed.first));
  window.to = observed.last;
  window.candidates = find_threads(observed.population, tid, *window.from, *window.to);
  if (window.candidates.empty()) {
    findings.warning("no-match", std::nullopt, "there is no thread {} in this interval", tid);
  } else if (window.candidates.size() == 1) {
    window.thread = window.candidates.front();
    const auto& end = observed.population.threads()[window.thread].life.end;
    window.to = std::min(*window.to, end.value_or(*window.to));
  }
  return window;
}

i64 unknown_time(std::span<const Hop> hops) {
  i64 unknown = 0;
  for (const auto& hop : hops)
    if (hop.kind == Hop::Kind::unknown) add_ticks(unknown, ticks_between(hop.from, hop.to));
  return unknown;
}

}  // namespace coldtrace::trace_analysis
