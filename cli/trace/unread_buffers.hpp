#pragma once

#include "coldtrace/core/findings.hpp"

namespace coldtrace::cli {

// The finding about buffers that could be read when the trace was opened and not later, if any.
void note_unread_buffers(core::Findings& findings, u64 unread);

}  // namespace coldtrace::cli
