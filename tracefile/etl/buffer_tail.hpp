#pragma once

#include "coldtrace/tracefile/etl/buffer.hpp"

namespace coldtrace::tracefile {

struct BufferTail {
  u32 filled;   // bytes with events, header included
  bool unused;  // whether what follows them is not filler
};

// How many bytes of an uncompressed buffer are events: what Offset says, or more where the events
// go on behind it, one after the other and each no earlier than the one before and no later than
// the buffer was flushed. Loggers fill the rest of a buffer with 0xff, and what a buffer had from
// an earlier use is older than what it has now. Source: all uncompressed buffers of 15 files have
// filler at Offset, and none before it.
BufferTail find_tail(const core::ImageSource& source, const BufferEntry& entry);

// The same where Offset says nothing and entry.filled is the whole buffer: up to the filler that
// ends it.
u32 find_end(const core::ImageSource& source, const BufferEntry& entry);

}  // namespace coldtrace::tracefile
