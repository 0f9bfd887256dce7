#pragma once

#include <vector>

#include "core/findings.hpp"
#include "core/image_source.hpp"
#include "tracefile/buffer.hpp"
#include "tracefile/logfile_header.hpp"

namespace coldtrace::tracefile {

// A stretch of the trace that is lost or that nothing could be made of.
struct Gap {
  enum class Reason : u8 {
    events_lost,      // the logger had no room for events before this buffer
    buffers_lost,     // the logger dropped buffers before this one
    damaged,          // events of this buffer from here on cannot be read
    unreadable,       // the bytes cannot be read
    not_a_buffer,     // bytes between buffers that are none
    buffers_missing,  // the numbers of the buffers have a hole before this one
    entries_torn,     // room in a buffer that was reserved and never written
  };
  Reason reason;
  u64 offset;  // in the file
  u64 length;  // bytes
  std::optional<i64> timestamp;
  std::optional<u16> cpu;
  u64 buffers = 0;    // how many are missing
  u64 events = 0;     // how many were lost, where that is known
  u64 file_time = 0;  // as that of events
};

std::string_view to_string(Gap::Reason reason);

// Where the buffers of a file lie and what its header says; nothing of their events.
struct BufferScan {
  bool has_header;  // false: lost, and all that it says is zero but the size of buffers
  LogfileHeader header;
  i64 first_timestamp;  // of the header event
  unsigned pointer_size;
  Compression compression;
  std::vector<BufferEntry> buffers;  // in file order; times and event counts are not yet set
  std::vector<Gap> gaps;
};

// Walks the buffer headers to the end of the file, whatever the header says of their number, and
// finds buffers again behind damage. A file whose first buffer is lost is read without its header.
// Fails when there is no buffer of events near the start of the file.
core::Result<BufferScan> scan_buffers(const core::ImageSource& source, core::Findings& findings);

}  // namespace coldtrace::tracefile
