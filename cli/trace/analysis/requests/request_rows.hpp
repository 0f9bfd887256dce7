#pragma once

#include "cli/trace/analysis/analysis_input.hpp"
#include "coldtrace/trace_analysis/requests/disk_io.hpp"

namespace coldtrace::cli {

// Writes disk requests as rows of CSV while the trace is read.
class RequestRows {
 public:
  // All must outlive it.
  RequestRows(const TraceInput& input, const trace_analysis::Observation& observation,
              Output& output)
      : clock_{input.trace.clock()}, observation_{observation}, output_{output} {}

  void begin();
  void write(const trace_analysis::DiskIo::Row& row);

 private:
  i64 duration(i64 ticks) const { return clock_.to_duration(ticks); }
  std::optional<i64> duration(std::optional<i64> ticks) const;

  const tracefile::Clock& clock_;
  const trace_analysis::Observation& observation_;
  Output& output_;
};

}  // namespace coldtrace::cli
