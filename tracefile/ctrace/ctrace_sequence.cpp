#include "tracefile/ctrace/ctrace_sequence.hpp"

#include <fmt/format.h>

namespace coldtrace::tracefile {

// Holes at the start are what wrap-around means.
std::optional<Gap> CtraceSequence::check(u16 processor, u32 sequence, u64 offset,
                                         core::Findings& findings) {
  u64 missing = 0;
  if (last_) {
    const u32 step = sequence - *last_;
    if (step == 0 || step >= 0x8000'0000)
      findings.warning("buffer-order", offset,
                       "buffer {} of processor {} comes after its buffer {}", sequence, processor,
                       *last_);
    else
      missing = step - 1;
  } else if (!wraps_around_) {
    missing = sequence;
  } else if (sequence > 0) {
    findings.warning("buffers-overwritten", offset,
                     "the tracer kept only its last buffers: {} of processor {} were "
                     "overwritten",
                     sequence, processor);
  }
  last_ = sequence;
  if (missing == 0) return std::nullopt;
  findings.warning("gap-buffers-missing", offset, "{} of processor {} missing before buffer {}",
                   missing == 1 ? "a buffer" : fmt::format("{} buffers", missing), processor,
                   sequence);
  return Gap{Gap::Reason::buffers_missing, offset, 0, {}, processor, missing};
}

void note_not_closed(const core::ImageSource& source, core::Findings& findings) {
  findings.info("trace-not-closed", source.size(),
                "the file has no end mark: the trace was not closed");
}

}  // namespace coldtrace::tracefile
