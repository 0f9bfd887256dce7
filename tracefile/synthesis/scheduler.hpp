#pragma once

#include <array>

#include "tracefile/synthesis/machine_state.hpp"

namespace coldtrace::tracefile::synthesis {

// Which thread has which processor. Source of the rules: Windows Server 2003, as "Windows
// Internals", 4th edition, chapter 6, "Thread Scheduling", has them.
class Scheduler {
 public:
  static constexpr u32 full_quantum = 6;  // clock interrupts

  explicit Scheduler(MachineState& state) : state_{state} {}

  // The thread can run: on an idle processor, instead of a thread of lower priority, or later.
  void make_ready(Thread& thread);
  // It comes from a wait with a higher priority, which decays with each quantum that it uses up.
  void boost(Thread& thread, u8 increment);

  // The thread in standby takes the processor, if it is still the better one.
  bool preempt(Processor& processor);
  // The current thread cannot go on; another one does, or the idle thread.
  void switch_away(Processor& processor, ThreadState state, u8 wait_reason);
  // The current thread lets others of its priority run first.
  void yield(Processor& processor, u8 wait_reason);
  // The current thread has used up its quantum.
  void end_quantum(Processor& processor);

 private:
  enum class Place : u8 { head, tail };

  void make_ready(Thread& thread, Place place, u64 latency);
  Processor* find_idle(const Thread& thread);
  Processor* find_victim(const Thread& thread);
  void claim(Processor& processor, Thread& thread, u64 latency);
  Thread* find_ready(const Processor& processor, i8 least_priority) const;
  Thread* take_best(Processor& processor, i8 least_priority);
  void switch_to(Processor& processor, Thread& next, ThreadState state, u8 wait_reason);
  u64 wake_latency();
  std::deque<Thread*>& queue_of(const Thread& thread);

  MachineState& state_;
  std::array<std::deque<Thread*>, 32> ready_;  // by priority
};

}  // namespace coldtrace::tracefile::synthesis
