#pragma once

#include "coldtrace/core/integers.hpp"

namespace coldtrace::trace_analysis {

// By what the rows of an analysis' tables are sorted, largest first. Of equal rows, the one with
// the lower number comes first.
enum class RowOrder : u8 { time, count };

}  // namespace coldtrace::trace_analysis
