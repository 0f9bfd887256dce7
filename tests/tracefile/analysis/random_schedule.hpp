#pragma once

#include <array>
#include <optional>
#include <vector>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::fixtures {

// A made-up run of a few processors that keeps the rules of a scheduler, and where its time went,
// counted while it is made up.
struct RandomSchedule {
  static constexpr u16 processors = 3;
  static constexpr u32 threads = 7;  // ids 4, 8, ...; 0 is idle
  static constexpr u8 reasons = 4;

  struct Step {
    i64 time;
    u16 cpu;
    bool is_switch;  // else somebody is made ready
    u32 old_tid, new_tid;
    u8 old_state, reason;
    u32 readied, waker;
  };
  struct Times {
    i64 running = 0, ready = 0, waiting = 0;
    std::array<u64, reasons> waits{};
    friend bool operator==(const Times&, const Times&) = default;
  };

  RandomSchedule(u64 seed, unsigned length);

  std::vector<Step> steps;
  std::array<Times, threads + 1> times;  // by number of the thread, from 1
  std::array<i64, processors> busy{}, idle{};
};

}  // namespace coldtrace::fixtures
