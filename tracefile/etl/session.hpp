#pragma once

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/tracefile/etl/buffer_scan.hpp"

namespace coldtrace::tracefile {

// What the first buffer of a file says of the session, or, where that is lost, what the first
// buffer of events near the start tells; then `trace-header` is a finding. No buffers are listed
// yet. Fails when there is neither.
core::Result<BufferScan> find_session(const core::ImageSource& source, core::Findings& findings);

}  // namespace coldtrace::tracefile
