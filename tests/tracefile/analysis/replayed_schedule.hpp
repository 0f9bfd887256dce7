#pragma once

#include <optional>
#include <vector>

#include "coldtrace/trace_analysis/records/analysis.hpp"
#include "tests/tracefile/analysis/random_schedule.hpp"

namespace coldtrace::fixtures {

// Tells an analysis the steps of a run, or all but one of them. The place of a step is its event's
// offset.
class ReplayedSchedule {
 public:
  ReplayedSchedule(const std::vector<RandomSchedule::Step>& steps, trace_analysis::Analysis& answer,
                   std::optional<std::size_t> without = {});

  const trace_analysis::Population& population() const { return population_; }
  trace_analysis::Index thread(u32 tid) { return population_.thread(tid); }

 private:
  trace_analysis::Index find(u32 tid, u16 cpu);

  trace_analysis::Population population_;
};

}  // namespace coldtrace::fixtures
