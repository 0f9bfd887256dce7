#pragma once

#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/trace_analysis/records/population.hpp"

namespace coldtrace::trace_analysis {

// The processes that ids, names and globs stand for. `no-match`: those that match no process.
[[nodiscard]] std::vector<Index> find_processes(const Population& population,
                                                const std::vector<std::string>& wanted,
                                                core::Findings& findings);

}  // namespace coldtrace::trace_analysis
