#pragma once

#include "coldtrace/core/findings.hpp"
#include "coldtrace/tracefile/etl/buffer_scan.hpp"

namespace coldtrace::tracefile {

// Finds buffers that the session flushed and the file does not have: every buffer has a number, one
// more than that flushed before it on any processor. Adds a gap and the finding
// `gap-buffers-missing` for each hole. Where numbers repeat, as after some merges, they say
// nothing, but where each that comes again fills a hole: that is damage, `buffer-sequence`. What
// the header of a closed session counts beyond that is one hole at the end of the file, which was
// cut there. A count that is not that of the file, with what was overwritten, is `buffer-count`. To
// be called when the times of the buffers are known. Source: observed on 9 files, live and merged,
// whose numbers run from 0 without a hole.
void find_missing_buffers(BufferScan& scan, core::Findings& findings);

}  // namespace coldtrace::tracefile
