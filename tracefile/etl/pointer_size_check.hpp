#pragma once

#include <map>
#include <memory>
#include <utility>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/tracefile/providers/event_decoder.hpp"
#include "tracefile/providers/clr_schemas.hpp"

namespace coldtrace::tracefile {

// Notices headers that lie about the pointers of the events behind them, as 32-bit sessions of
// 64-bit kernels do: events that fit their layouts with pointers of the other size alone, and none
// of their class that fits with that of its header alone. Of classic events the layouts are those
// of the kernel, of manifest events those of the .NET runtime, and TraceLogging's own. The flags of
// EVENT_HEADER that say the size as well are not in files (observed: 0 and 1 alone).
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

  std::shared_ptr<const SchemaSource> runtime_ = clr_schemas(ClrVersions::exact);
  EventDecoder decoder_{*runtime_};
  std::size_t classic_ = 0;  // that were looked at
  std::size_t manifest_ = 0;
  std::map<std::pair<EventClass, u8>, Fits> fits_;  // by the header's size
};

}  // namespace coldtrace::tracefile
