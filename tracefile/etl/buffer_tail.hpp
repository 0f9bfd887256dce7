#pragma once

#include "coldtrace/tracefile/buffer.hpp"

namespace coldtrace::tracefile {

// How many bytes of an uncompressed buffer are events, its header included: what Offset says, or
// more where the events go on behind it, one after the other and each no earlier than the one
// before and no later than the buffer was flushed. Loggers fill the rest of a buffer with 0xff, and
// what a buffer had from an earlier use is older than what it has now. Source: all uncompressed
// buffers of 15 files have filler at Offset.
u32 find_filled(const core::ImageSource& source, const BufferEntry& entry);

}  // namespace coldtrace::tracefile
