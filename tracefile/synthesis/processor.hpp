#pragma once

#include <algorithm>
#include <deque>
#include <functional>

#include "tracefile/synthesis/thread.hpp"

namespace coldtrace::tracefile::synthesis {

enum class RoutineKind : u8 { interrupt, deferred, timer };  // ISR, DPC, timer DPC

// An interrupt's or deferred procedure call's stay on a processor.
struct Routine {
  RoutineKind kind;
  u64 address;
  u64 remaining;               // ticks
  std::function<void()> body;  // happens at its end
  u8 vector = 0;
  u64 begun = 0;
  u64 interrupted = 0;  // ticks of routines that interrupted it
};

struct Processor {
  u16 index = 0;
  Thread* idle = nullptr;
  Thread* current = nullptr;
  Thread* next = nullptr;         // in standby for it
  std::vector<Routine> routines;  // the last one executes, the others are interrupted
  std::deque<Routine> interrupts_pending;
  std::deque<Routine> calls_pending;
  u64 since = 0;          // until when the work of `routines` or `current` is accounted for
  u64 version = 0;        // another one whenever what it executes changes
  u64 clock_due = 0;      // 0: no clock interrupt is planned
  u64 clock_version = 0;  // of this plan

  bool is_idle() const { return current == idle && next == nullptr; }
  bool in_deferred_call() const {
    return !routines.empty() && routines.back().kind != RoutineKind::interrupt;
  }

  // What it executes has come this far.
  void settle(u64 now) {
    auto& work = routines.empty() ? current->remaining : routines.back().remaining;
    work -= std::min(work, now - since);
    since = now;
    ++version;
  }
};

}  // namespace coldtrace::tracefile::synthesis
