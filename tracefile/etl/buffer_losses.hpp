#pragma once

#include "coldtrace/tracefile/etl/buffer_scan.hpp"

namespace coldtrace::tracefile {

// Sets `follows_loss` of the buffers. Nothing says of which processor a missing buffer is, nor one
// whose processor is not known: of each, its events lie between those of the processor's buffers
// before and after it. To be called when damage and missing buffers are known.
void mark_losses(BufferScan& scan);

// Adds a gap for what only the header counts as lost, where no buffer says that it was lost before
// it, beyond the buffers whose numbers are missing: of no time and of no processor. To be called
// when missing buffers are known. Observed: AMSI's and Windows Update's own sessions count lost
// events and mark no buffer.
void add_unplaced_losses(BufferScan& scan);

}  // namespace coldtrace::tracefile
