#pragma once

#include "tracefile/synthesis/machine_state.hpp"

namespace coldtrace::tracefile::synthesis {

// Interrupts and deferred procedure calls: they take the processor from its thread, which stays the
// current one. An interrupt interrupts deferred calls, not another interrupt.
class Interrupts {
 public:
  explicit Interrupts(MachineState& state) : state_{state} {}

  // The device interrupts the processor; `body` happens when its service routine ends.
  void raise(Processor& processor, u64 address, u8 vector, Duration duration,
             std::function<void()> body);
  // To be called from the body of an interrupt.
  void queue(RoutineKind kind, u64 address, Duration duration, std::function<void()> body);

 private:
  void start(Processor& processor, Routine routine);
  void go_on(Processor& processor);
  void finish(Processor& processor);
  void next(Processor& processor);

  MachineState& state_;
};

}  // namespace coldtrace::tracefile::synthesis
