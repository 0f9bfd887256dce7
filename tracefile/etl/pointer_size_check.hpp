#pragma once

#include <map>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/tracefile/providers/event_decoder.hpp"

namespace coldtrace::tracefile {

// Notices headers that lie about the pointers of the events behind them, as 32-bit sessions of
// 64-bit kernels do: classic events that fit the kernel's layouts with pointers of the other size
// alone, and none that fits with that of its header alone.
class PointerSizeCheck {
 public:
  // Looks at the first ones of a trace.
  void look(const Event& event);

  // `offset` is where in the file they begin.
  void report(core::Findings& findings, u64 offset) const;

 private:
  struct Fits {
    u64 own = 0;    // with the header's size and not with the other
    u64 other = 0;  // the other way round
  };

  SchemaTable none_;  // the layouts of the kernel are the decoder's own
  EventDecoder decoder_{none_};
  std::size_t looked_at_ = 0;
  std::map<u8, Fits> by_size_;  // by the header's
};

}  // namespace coldtrace::tracefile
