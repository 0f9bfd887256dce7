#pragma once

#include <map>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/core/spilled_vector.hpp"
#include "coldtrace/tracefile/ctrace/ctrace_buffer.hpp"
#include "coldtrace/tracefile/ctrace/ctrace_clock.hpp"
#include "coldtrace/tracefile/ctrace/ctrace_header.hpp"
#include "coldtrace/tracefile/etl/buffer_scan.hpp"

namespace coldtrace::tracefile {

// One buffer of the file as the index keeps it: its CRC is valid.
struct CtraceBufferEntry {
  static constexpr u64 none = ~u64{0};
  static constexpr u16 same_part = 0xffff;

  u64 offset;
  u64 next;                     // index of the processor's next buffer, or none
  u64 first_stamp, last_stamp;  // the least and greatest of its committed entries
  u32 length;                   // header included
  u32 sequence;
  u32 events;  // committed
  u16 processor;
  u16 next_part = same_part;  // the file of the next buffer, if it is another one
};

// What a first pass over the whole file finds.
struct CtraceScan {
  // Shared by all files of a trace, but each keeps at least a few.
  static constexpr std::size_t most_in_memory = std::size_t{1} << 16;
  static constexpr std::size_t least_in_memory = 256;

  explicit CtraceScan(std::size_t buffers_in_memory = most_in_memory)
      : buffers{buffers_in_memory} {}

  struct Processor {
    u64 first_buffer, last_buffer;  // indexes
    u64 first_stamp;                // of its events; the greatest number if there is none
    CtraceClock clock;
  };

  core::SpilledVector<CtraceBufferEntry> buffers;  // in file order
  std::vector<Gap> gaps;                           // `timestamp` is a stamp of the gap's processor
  std::map<u16, Processor> processors;
  u64 events = 0;
  u64 lost = 0;
  u64 uncommitted = 0;
  u64 missing = 0;  // buffers, by the gaps in the sequence numbers
  bool closed = false;
};

// Receives every committed entry of the first pass, in file order.
class CtraceVisitor {
 public:
  CtraceVisitor() = default;
  CtraceVisitor(const CtraceVisitor&) = delete;
  CtraceVisitor& operator=(const CtraceVisitor&) = delete;
  virtual ~CtraceVisitor() = default;
  // Views of it are valid during the call.
  virtual void visit(u16 processor, const CtraceEntry& entry) = 0;
};

// For one of `parts` files of a trace: if there are several, link_parts() decides whether buffers
// are missing and whether the trace was closed.
CtraceScan scan_ctrace(const core::ImageSource& source, const CtraceHeader& header,
                       CtraceVisitor& visitor, core::Findings& findings, std::size_t parts = 1);

}  // namespace coldtrace::tracefile
