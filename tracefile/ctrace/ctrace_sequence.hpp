#pragma once

#include <optional>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/tracefile/ctrace/ctrace_header.hpp"
#include "coldtrace/tracefile/events/gap.hpp"

namespace coldtrace::tracefile {

// The numbers of one processor's buffers, in the order in which a session wrote them.
class CtraceSequence {
 public:
  explicit CtraceSequence(const CtraceHeader& header)
      : wraps_around_{(header.flags & CtraceHeader::wrap_around) != 0} {}

  // What is missing before the buffer at `offset`; without the time of it.
  std::optional<Gap> check(u16 processor, u32 sequence, u64 offset, core::Findings& findings);

 private:
  bool wraps_around_;
  std::optional<u32> last_;
};

void note_not_closed(const core::ImageSource& source, core::Findings& findings);

}  // namespace coldtrace::tracefile
