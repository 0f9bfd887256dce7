#pragma once

#include <optional>
#include <string_view>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::tracefile {

// A stretch of the trace that is lost or could not be interpreted.
struct Gap {
  enum class Reason : u8 {
    events_lost,      // the logger had no room for events before this buffer
    buffers_lost,     // the logger dropped buffers before this one
    damaged,          // events of this buffer from here on cannot be read
    unreadable,       // the bytes cannot be read
    not_a_buffer,     // bytes between buffers that are not buffers
    buffers_missing,  // numbers of buffers are missing before this one
    not_unpacked,     // a compressed buffer beyond what the file may unpack to
    entries_torn,     // room in a buffer that was reserved and never written
  };
  Reason reason;
  u64 offset;  // in the file
  u64 length;  // bytes
  std::optional<i64> timestamp;
  std::optional<u16> cpu;
  u64 buffers = 0;    // how many are missing
  u64 events = 0;     // how many were lost, where that is known
  u64 file_time = 0;  // as for events
  u16 file = 0;       // as for events
};

[[nodiscard]] std::string_view to_string(Gap::Reason reason);

}  // namespace coldtrace::tracefile
