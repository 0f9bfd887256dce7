#pragma once

#include "coldtrace/core/findings.hpp"

namespace coldtrace::tracefile {

// `trace-changed`: buffers that could be read when the trace was opened but not later
// (EventSequence::unread_buffers).
void note_unread_buffers(u64 unread, core::Findings& findings);

}  // namespace coldtrace::tracefile
