#pragma once

#include <optional>
#include <vector>

#include "coldtrace/tracefile/names/name_tables.hpp"

namespace coldtrace::tracefile {

// Knows which thread runs on each processor from the context switches that went by.
class RunningThreads {
 public:
  // A switch is what threads are known from; others it completes where they have no thread.
  [[nodiscard]] static bool is_switch(const Event& event);
  [[nodiscard]] static bool may_complete(const Event& event);

  // Completes events that were logged without thread and process. The event must come in the
  // order of time. A context switch is of the thread that ran until then.
  void apply(Event& event, const NameTables& names);
  // What ran on a processor is not known any more: switches may be missing.
  void forget(u16 cpu);

 private:
  struct Running {
    std::optional<u32> tid, pid;
  };
  std::vector<Running> processors_;
};

}  // namespace coldtrace::tracefile
