#pragma once

#include <chrono>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::tracefile::synthesis {

// Times of the simulation are counted in units of 100 ns since it began.
using Duration = std::chrono::duration<i64, std::ratio<1, 10'000'000>>;

constexpr u64 ticks_of(Duration duration) {
  return static_cast<u64>(duration.count());
}

}  // namespace coldtrace::tracefile::synthesis
