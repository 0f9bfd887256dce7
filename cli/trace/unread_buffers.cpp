#include "cli/trace/unread_buffers.hpp"

#include <optional>

namespace coldtrace::cli {

void note_unread_buffers(core::Findings& findings, u64 unread) {
  if (unread > 0)
    findings.warning("trace-changed", std::nullopt,
                     "{} buffers could be read when the trace was opened and not again", unread);
}

}  // namespace coldtrace::cli
