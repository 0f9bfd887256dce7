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

// Bytes of a buffer, by their place after unpacking.
struct Stretch {
  u32 offset;
  u32 size;
};

// Where the buffers of a file lie and what its header says; nothing about their events.
struct BufferScan {
  bool has_header;  // false: lost, and all its values are zero except the size of buffers
  LogfileHeader header;
  i64 first_timestamp;  // of the header event
  unsigned pointer_size;
  Compression compression;
  std::vector<BufferEntry> buffers;  // in file order; times and event counts are not yet set
  std::vector<Gap> gaps;
  // Stretches in which no events were found though some should be there, in order; by the buffer's
  // place in `buffers`. Set with the times.
  std::map<u32, std::vector<Stretch>> damage;
  std::optional<ClockChange> other_clock = std::nullopt;  // if it is not that of the trace
  // Why the header is lost.
  std::optional<core::ParseError> header_error = std::nullopt;
  bool overwritten = false;  // a session that keeps only its last buffers had others before these
};

// Of whose events a buffer of the file is; nothing where processors share buffers.
[[nodiscard]] std::optional<u16> processor_of(const BufferEntry& entry, const BufferScan& scan);

// Whether one buffer was written before another: by number, and for equal numbers by place.
[[nodiscard]] bool is_written_before(const BufferEntry* a, const BufferEntry* b);

// Offsets of the buffers that follow missing ones.
[[nodiscard]] std::set<u64> offsets_behind_missing(const BufferScan& scan);

// One of the files of a trace. Those that do not have the clock of one machine have an
// `other_clock`.
struct ScannedFile {
  const core::ImageSource* source;  // outlives what is made of the file
  BufferScan scan;
  u64 events = 0;
};

}  // namespace coldtrace::tracefile
