#include "coldtrace/trace_analysis/waits/ended_waits.hpp"

#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::trace_analysis {

void EndedWaits::add(i64 waiting, const Moment& since) {
  ++count;
  add_ticks(time, waiting);
  if (count > 1 && waiting <= longest) return;
  longest = waiting;
  longest_since = since;
}

}  // namespace coldtrace::trace_analysis
