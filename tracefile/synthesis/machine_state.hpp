#pragma once

#include <deque>
#include <functional>

#include "tracefile/synthesis/accounts.hpp"
#include "tracefile/synthesis/duration.hpp"
#include "tracefile/synthesis/event_queue.hpp"
#include "tracefile/synthesis/random.hpp"

namespace coldtrace::tracefile::synthesis {

// What all parts of a machine share.
struct MachineState {
  MachineState(u16 processor_count, u64 seed, std::vector<MachineLog*> its_logs)
      : logs{std::move(its_logs)},
        accounts{processor_count},
        random{seed},
        processors(processor_count) {}

  u64 now() const { return events.now(); }
  Moment moment() const { return {now(), here->index, *here->current}; }

  template <class... Parameters, class... Arguments>
  void tell(void (MachineLog::*what)(Parameters...), const Arguments&... arguments) const {
    for (auto* log : logs) (log->*what)(arguments...);
  }

  std::vector<MachineLog*> logs;
  Accounts accounts;
  EventQueue events;
  Random random;
  std::vector<Processor> processors;  // their number never changes
  InversionWatch inversions{processors};
  std::deque<Process> processes;
  std::deque<Thread> threads;
  Processor* here = nullptr;  // on which something happens now
  // The processor looks whether it has another thread to run.
  std::function<void(Processor&)> look;
};

}  // namespace coldtrace::tracefile::synthesis
