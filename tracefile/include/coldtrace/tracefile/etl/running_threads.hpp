#pragma once

#include <optional>
#include <vector>

#include "coldtrace/tracefile/names/name_tables.hpp"

namespace coldtrace::tracefile {

// Knows which thread runs on each processor, from the context switches so far.
class RunningThreads {
 public:
  // Switches tell which threads run; other events are completed if they have no thread.
  [[nodiscard]] static bool is_switch(const Event& event);
  [[nodiscard]] static bool may_complete(const Event& event);

  // Completes events that were logged without thread and process. Events must come in order of
  // time. A context switch belongs to the thread that ran until then.
  void apply(Event& event, const NameTables& names);
  // It is no longer known what runs on a processor: switches may be missing.
  void forget(u16 cpu);

 private:
  struct Running {
    std::optional<u32> tid, pid;
  };
  std::vector<Running> processors_;
};

}  // namespace coldtrace::tracefile
