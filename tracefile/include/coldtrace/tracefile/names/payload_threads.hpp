#pragma once

#include <vector>

#include "coldtrace/tracefile/events/event.hpp"
#include "coldtrace/tracefile/names/name_tables.hpp"

namespace coldtrace::tracefile {

// Finds the process and thread of kernel events that were logged without them, if a field of the
// payload names them: of a sample, of whoever requested what a disk or the network has done, of
// what a rundown describes. The fields are those of kernel_event_table.inc with the types `pid`,
// `tid` and `ptid`.
class PayloadThreads {
 public:
  // Sets the ids of a kernel event that has neither, and marks them as coming from the payload.
  void apply(Event& event, const NameTables& names);

 private:
  struct Place {
    u16 offset = 0;
    u8 size = 0;  // 0: no such field
  };
  struct Layout {
    bool known = false;
    u8 version = 0;
    u8 pointer_size = 0;
    Place pid, tid;
  };

  static Layout find_layout(const Event& event);

  std::vector<Layout> layouts_;  // by group and opcode, of the version seen last
};

}  // namespace coldtrace::tracefile
