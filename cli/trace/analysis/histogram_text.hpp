#pragma once

#include <functional>
#include <string>

#include "coldtrace/trace_analysis/records/histogram.hpp"

namespace coldtrace::cli {

// "up to 0.0000127: 3, 0.0000255: 12": of the octaves that have values the greatest that such a
// value can be, and how many there are. "none" without values.
std::string octaves_text(const trace_analysis::Histogram& histogram,
                         const std::function<std::string(i64)>& unit);

}  // namespace coldtrace::cli
