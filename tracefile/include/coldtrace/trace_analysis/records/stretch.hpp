#pragma once

#include "coldtrace/core/integers.hpp"

namespace coldtrace::trace_analysis {

// A stretch of time, in ticks.
struct Stretch {
  i64 from, to;
};

}  // namespace coldtrace::trace_analysis
