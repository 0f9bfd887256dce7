#pragma once

#include <limits>
#include <optional>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::trace_analysis {

// A sum that is too large stays the largest number.
inline void add_bytes(u64& sum, std::optional<u64> bytes) {
  if (__builtin_add_overflow(sum, bytes.value_or(0), &sum)) sum = std::numeric_limits<u64>::max();
}

}  // namespace coldtrace::trace_analysis
