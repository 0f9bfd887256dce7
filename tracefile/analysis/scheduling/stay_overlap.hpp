#pragma once

#include <span>

#include "coldtrace/trace_analysis/scheduling/ready_stretches.hpp"

namespace coldtrace::trace_analysis {

// What the thread of a stay is to the question.
enum class Role : u8 { other, wanted, forbidden };

// How long, and how long of that each stay was.
struct Overlap {
  i64 time = 0;
  i64 from = 0, to = 0;  // from its first to its last moment
  std::vector<i64> shares;
};

// The time between two moments in which some wanted thread ran, no forbidden one did, and at least
// `processors` of them had a thread that is known. Each processor is in one stay at a time.
Overlap find_overlap(std::span<const Stay> stays, std::span<const Role> roles, i64 from, i64 to,
                     std::size_t processors);

}  // namespace coldtrace::trace_analysis
