#pragma once

#include "tracefile/synthesis/interrupts.hpp"

namespace coldtrace::tracefile::synthesis {

// The clock interrupt of each processor: it charges the current thread's quantum and, on the first
// processor, finds timers that are due. An idle processor that no timer needs has none.
class Clock {
 public:
  static constexpr Duration interval = std::chrono::milliseconds{1};

  Clock(MachineState& state, Interrupts& interrupts) : state_{state}, interrupts_{interrupts} {}

  // `expire` happens in a deferred call, unless `version` has another value by then.
  void arm(u64 due, const u64& version, std::function<void()> expire);
  void arm(u64 due, std::function<void()> expire) { arm(due, always, std::move(expire)); }
  // Plans the processor's next clock interrupt, or none.
  void follow(Processor& processor);

 private:
  struct Timer {
    const u64* version;
    u64 valid_version;
    std::function<void()> expire;

    bool is_valid() const { return *version == valid_version; }
  };

  static constexpr u64 always = 0;

  void tick(Processor& processor);
  void expire_timers();
  void forget_cancelled();

  MachineState& state_;
  Interrupts& interrupts_;
  std::multimap<u64, Timer> timers_;  // by the time when they are due
};

}  // namespace coldtrace::tracefile::synthesis
