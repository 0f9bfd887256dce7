#pragma once

#include <functional>
#include <string>
#include <vector>

#include "coldtrace/trace_analysis/records/histogram.hpp"

namespace coldtrace::cli {

// "up to 0.0000128: 3, 0.0000256: 12": for each octave with values, its upper limit, a power of
// two, and their number. "none" without values.
std::string octaves_text(const trace_analysis::Histogram& histogram,
                         const std::function<std::string(i64)>& unit);

// The same for drawing: the number of values in each octave, from the first with any to the last.
struct Octaves {
  std::vector<double> counts;
  i64 least = 0, greatest = 0;  // upper limits of the first and of the last
};
Octaves octaves_of(const trace_analysis::Histogram& histogram);

}  // namespace coldtrace::cli
