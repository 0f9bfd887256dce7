#include "coldtrace/tracefile/events/sequence_findings.hpp"

#include "coldtrace/core/text.hpp"

namespace coldtrace::tracefile {

void note_unread_buffers(u64 unread, core::Findings& findings) {
  if (unread > 0)
    findings.warning("trace-changed", std::nullopt,
                     "{} could be read when the trace was opened, but not later",
                     core::counted(unread, "buffer", "buffers"));
}

}  // namespace coldtrace::tracefile
