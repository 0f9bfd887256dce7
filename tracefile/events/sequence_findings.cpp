#include "coldtrace/tracefile/events/sequence_findings.hpp"

namespace coldtrace::tracefile {

void note_unread_buffers(u64 unread, core::Findings& findings) {
  if (unread > 0)
    findings.warning("trace-changed", std::nullopt,
                     "{} buffers could be read when the trace was opened, but not later", unread);
}

}  // namespace coldtrace::tracefile
