#pragma once

#include <vector>

#include "coldtrace/trace_analysis/processors/processor_use.hpp"

namespace coldtrace::trace_analysis {

// What the DPCs and ISRs of one driver cost.
struct DriverUse {
  u32 module;  // CodeNames::no_module: the driver is not known
  u64 dpcs = 0, isrs = 0;
  i64 in_dpc = 0, in_isr = 0;  // ticks, each without what interrupted it

  [[nodiscard]] i64 time() const;
};

// Those with the most time first.
[[nodiscard]] std::vector<DriverUse> drivers_of(const std::vector<RoutineUse>& routines);

}  // namespace coldtrace::trace_analysis
