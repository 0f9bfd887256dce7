#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::trace_analysis {

// "1 stack is", "2 stacks are": so many things, and as much of the sentence as that changes.
inline std::string counted(u64 count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

}  // namespace coldtrace::trace_analysis
