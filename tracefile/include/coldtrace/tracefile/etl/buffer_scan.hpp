#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "coldtrace/core/image_source.hpp"
#include "coldtrace/tracefile/etl/buffer.hpp"
#include "coldtrace/tracefile/etl/logfile_header.hpp"
#include "coldtrace/tracefile/events/clock_change.hpp"
#include "coldtrace/tracefile/events/gap.hpp"

namespace coldtrace::tracefile {

// Bytes of a buffer, by their place in what it unpacks to.
struct Stretch {
  u32 offset;
  u32 size;
};

// Where the buffers of a file lie and what its header says; nothing of their events.
struct BufferScan {
  bool has_header;  // false: lost, and all that it says is zero but the size of buffers
  LogfileHeader header;
  i64 first_timestamp;  // of the header event
  unsigned pointer_size;
  Compression compression;
  std::vector<BufferEntry> buffers;  // in file order; times and event counts are not yet set
  std::vector<Gap> gaps;
  // Stretches that no events were found in though some should be there, in their order; by the
  // buffer's place in `buffers`. Set with the times.
  std::map<u32, std::vector<Stretch>> damage;
  std::optional<ClockChange> other_clock = std::nullopt;  // where it is not that of the trace
  bool overwritten = false;  // a session that keeps its last buffers had others before these
};

// Whether a buffer was written before another: by their numbers, and of equal ones by their places.
[[nodiscard]] bool is_written_before(const BufferEntry* a, const BufferEntry* b);

// Offsets of the buffers that come behind missing ones.
[[nodiscard]] std::set<u64> offsets_behind_missing(const BufferScan& scan);

// One of the files of a trace. Those that have not the clock of one machine have an `other_clock`.
struct ScannedFile {
  const core::ImageSource* source;  // outlives what is made of the file
  BufferScan scan;
  u64 events = 0;
};

}  // namespace coldtrace::tracefile
