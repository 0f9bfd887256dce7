#include "coldtrace/tracefile/opening/event_times.hpp"

#include <algorithm>

namespace coldtrace::tracefile {
namespace {

// What each buffer tells, joined.
template <class... Of>
std::optional<EventTimes> join_event_times(const Of&... of) {
  std::optional<EventTimes> all;
  const bool whole = visit_event_times(of..., [&](const EventTimes& times, u64) {
    if (!all) all = times;
    all->first.ticks = std::min(all->first.ticks, times.first.ticks);
    all->last.ticks = std::max(all->last.ticks, times.last.ticks);
  });
  return whole ? all : std::nullopt;
}

}  // namespace

bool visit_event_times(const BufferScan& scan, const Clock& clock, const TimedBuffer& visit) {
  if (!clock.known()) return false;
  for (const auto& buffer : scan.buffers)
    if (buffer.events > 0) {
      const auto first = clock.find_file_time(buffer.first_time);
      const auto last = clock.find_file_time(buffer.last_time);
      if (first || last) visit({first ? *first : *last, last ? *last : *first}, buffer.events);
    }
  return true;
}

bool visit_event_times(const Ctrace& trace, const CtracePart& part, const TimedBuffer& visit) {
  const auto& buffers = part.scan.buffers;
  for (u64 i = 0; i < buffers.size(); ++i) {
    const auto buffer = buffers.at(i);
    if (!buffer) return false;
    if (buffer->events == 0) continue;
    CtraceClock::Cursor cursor;
    const auto time = [&, &clock = trace.clock_of(part, buffer->processor)](u64 stamp) {
      return core::FileTime{clock.to_time(stamp, cursor).ticks};
    };
    const auto first = time(buffer->first_stamp);
    visit({first, time(buffer->last_stamp)}, buffer->events);
  }
  return true;
}

std::optional<EventTimes> find_event_times(const BufferScan& scan, const Clock& clock) {
  return join_event_times(scan, clock);
}

std::optional<EventTimes> find_event_times(const Ctrace& trace, const CtracePart& part) {
  return join_event_times(trace, part);
}

}  // namespace coldtrace::tracefile
