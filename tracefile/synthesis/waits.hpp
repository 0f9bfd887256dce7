#pragma once

#include "tracefile/synthesis/clock.hpp"
#include "tracefile/synthesis/scheduler.hpp"

namespace coldtrace::tracefile::synthesis {

constexpr u32 status_timeout = 0x102;

// Waits of threads for dispatcher objects, and what ends them.
class Waits {
 public:
  Waits(MachineState& state, Clock& clock, Scheduler& scheduler)
      : state_{state}, clock_{clock}, scheduler_{scheduler} {}

  // The current thread of the processor waits as its `wait` says, or goes on at once.
  void begin(Processor& processor);
  // The object may be signaled now: waits that it satisfies end, with this increment of priority.
  void signaled(DispatcherObject& object, u8 increment);

 private:
  bool end_at_once(Thread& thread);
  void time_out(Thread& thread);
  void ready(Thread& thread, u32 status, u8 increment);
  void tell_satisfied(const Thread& thread, u32 status);
  void look_for_knots(const Thread& thread);

  MachineState& state_;
  Clock& clock_;
  Scheduler& scheduler_;
};

}  // namespace coldtrace::tracefile::synthesis
