#pragma once

#include <functional>
#include <string>
#include <vector>

#include "coldtrace/trace_analysis/records/histogram.hpp"

namespace coldtrace::cli {

// "up to 0.0000128: 3, 0.0000256: 12": of the octaves that have values the greatest that such a
// value can be, a power of two, and how many there are. "none" without values.
std::string octaves_text(const trace_analysis::Histogram& histogram,
                         const std::function<std::string(i64)>& unit);

// The same to be drawn: from the first octave that has values to the last, each with how many.
struct Octaves {
  std::vector<double> counts;
  i64 least = 0, greatest = 0;  // the greatest value of the first and of the last
};
Octaves octaves_of(const trace_analysis::Histogram& histogram);

}  // namespace coldtrace::cli
